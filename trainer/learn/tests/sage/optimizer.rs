//! Our Adam against libtorch's.

use learn::sage::{Adam, Model};
use tch::{
    Device,
    nn::{self, OptimizerConfig},
};

use super::support::{assert_close, random};

#[test]
fn adam_steps_as_libtorch_does() {
    for decay in [0.0, 5e-4] {
        let model = Model::new(&[11, 8, 3], 4, Device::Cpu).unwrap();
        let store = nn::VarStore::new(Device::Cpu);
        let theirs: Vec<_> = model
            .named()
            .map(|(name, tensor)| store.root().var_copy(&name.replace('.', "_"), &tensor.detach()))
            .collect();
        let mut reference = nn::Adam { wd: decay, ..nn::Adam::default() }.build(&store, 0.01).unwrap();
        let mut ours = Adam::new(&model, 0.01, decay, 2).unwrap();
        for step in 0..20 {
            for (i, ((_, own), their)) in model.named().zip(&theirs).enumerate() {
                let size = own.size();
                let gradient = random(size.iter().product(), 1, 1000 * step + i as u64).reshape(&size);
                for parameter in [own, their] {
                    parameter.shallow_clone().zero_grad();
                    (parameter * &gradient).sum(Model::KIND).backward();
                }
            }
            ours.step(&model).unwrap();
            reference.step();
            for ((name, own), their) in model.named().zip(&theirs) {
                assert_close(&format!("{name}, step {step}"), &own.detach(), &their.detach(), 1e-6);
            }
        }
        assert_eq!(ours.steps(), 20);
    }
}

#[test]
fn a_parameter_without_a_gradient_stays() {
    let model = Model::new(&[3, 2], 4, Device::Cpu).unwrap();
    let before = model.snapshot().unwrap();
    Adam::new(&model, 0.01, 0.1, 1).unwrap().step(&model).unwrap();
    assert_eq!(model.snapshot().unwrap(), before);
}

#[test]
fn the_first_layers_alone_decay() {
    let model = Model::new(&[3, 4, 2], 4, Device::Cpu).unwrap();
    let before = model.snapshot().unwrap();
    for (_, parameter) in model.named() {
        // Without decay a gradient of zero changes nothing.
        (parameter * 0.0).sum(Model::KIND).backward();
    }
    Adam::new(&model, 0.01, 0.1, 1).unwrap().step(&model).unwrap();
    for ((name, after), before) in model.named().zip(&before) {
        assert_eq!(after.detach() == *before, name.starts_with("convs.1"), "{name}");
    }
}
