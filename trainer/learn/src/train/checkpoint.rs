//! Parameters and optimizer in files of the format safetensors.

use std::{collections::HashMap, fs, io, io::Write, path::Path};

use golden_files::{write, write::WriteProblem};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tch::Tensor;

use super::{Data, Output, Record, Settings, State, TrainError};
use pipeline::ledger::{Direction, Ledger};

/// Under which name a file holds what is no tensor, as JSON. There is one such name alone, so that a file's bytes do not
/// depend on an order.
const KEY: &str = "trisage";

/// What `last.safetensors` holds beside tensors.
#[derive(Serialize, Deserialize)]
struct Last {
    settings: Settings,
    /// Epochs that are done.
    epochs: u64,
    /// Steps of the optimizer.
    steps: i32,
    best: Option<Record>,
}

/// Before the name of a parameter: its running means in the optimizer.
const MOMENTS: [&str; 2] = ["adam.mean", "adam.square"];

/// Writes the history and the last parameters, and the best ones if they are.
pub(super) fn write(
    output: &Output,
    settings: &Settings,
    state: &State,
    best: bool,
    ledger: &Ledger,
) -> Result<(), TrainError> {
    let mut tensors: Vec<(String, &Tensor)> = state.model.named().collect();
    output.write_history(&state.history)?;
    if best {
        save(&output.best(), &tensors, &state.best, ledger)?;
    }
    for ((name, _), moments) in state.model.named().zip(state.adam.moments()) {
        tensors.extend(MOMENTS.iter().zip(moments).map(|(moment, tensor)| (format!("{moment}.{name}"), tensor)));
    }
    let (epochs, steps) = (state.history.len() as u64, state.adam.steps());
    save(&output.last(), &tensors, &Last { settings: settings.clone(), epochs, steps, best: state.best }, ledger)
}

/// Goes on from the last parameters.
pub(super) fn resume(
    output: &Output,
    settings: &Settings,
    data: &Data,
    state: &mut State,
    ledger: &Ledger,
) -> Result<(), TrainError> {
    let path = output.last();
    let wrong = |problem: String| TrainError::Resume { path: path.clone(), problem };
    let bytes = fs::read(&path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let last: Last = metadata(&bytes).map_err(&wrong)?;
    if let Some(difference) = settings.differs(&last.settings) {
        return Err(wrong(format!("training cannot go on with other settings: {difference}")));
    }
    if last.epochs > settings.epochs {
        return Err(wrong(format!("{} epochs are done already, and {} are asked for", last.epochs, settings.epochs)));
    }
    let steps = last.epochs.saturating_mul(settings.minibatches(data) as u64);
    if u64::try_from(last.steps) != Ok(steps) {
        let epochs = last.epochs;
        return Err(wrong(format!(
            "it is of {epochs} epochs in {} steps, which on this data set are {steps}; give the data set that it was made with",
            last.steps
        )));
    }
    let file = SafeTensors::deserialize(&bytes).map_err(|error| wrong(error.to_string()))?;
    let read = |name: &str, like: &Tensor| tensor(&file, name, like, ledger).map_err(&wrong);
    let (mut parameters, mut moments) = (Vec::new(), Vec::new());
    for (name, like) in state.model.named() {
        parameters.push(read(&name, like)?);
        let [mean, square] = MOMENTS.map(|moment| read(&format!("{moment}.{name}"), like));
        moments.push([mean?, square?]);
    }
    state.history = output.read_history(last.epochs)?;
    state.model.restore(&parameters)?;
    state.adam.resume(last.steps, moments);
    state.best = last.best;
    Ok(())
}

/// What crosses the bus, as the ledger names it.
const SITE: &str = "checkpoint";

fn save(path: &Path, tensors: &[(String, &Tensor)], meta: &impl Serialize, ledger: &Ledger) -> Result<(), TrainError> {
    let failed = |error: io::Error| TrainError::Write(WriteProblem::Write { error }.at(path));
    let mut data = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors {
        ledger.cross(Direction::Down, SITE, tensor.numel() * size_of::<f32>());
        let values = Vec::<f32>::try_from(tensor.f_detach()?.f_flatten(0, -1)?)?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let shape: Vec<usize> = tensor.size().iter().map(|&length| length.cast_unsigned() as usize).collect();
        data.push((name, shape, bytes));
    }
    let mut views = Vec::with_capacity(data.len());
    for (name, shape, bytes) in &data {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
        views.push((name.as_str(), view.map_err(|error| failed(io::Error::other(error)))?));
    }
    let meta = serde_json::to_string(meta).map_err(|error| failed(error.into()))?;
    let meta = HashMap::from([(KEY.to_owned(), meta)]);
    let bytes = safetensors::serialize(views, Some(meta)).map_err(|error| failed(io::Error::other(error)))?;
    Ok(write::file(path, "the parameters", true, |out| out.write_all(&bytes))?)
}

fn metadata<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    let text = text.ok_or("it was not written by trisage")?;
    serde_json::from_str(text).map_err(|error| format!("it was written by another version of trisage: {error}"))
}

fn tensor(file: &SafeTensors<'_>, name: &str, like: &Tensor, ledger: &Ledger) -> Result<Tensor, String> {
    let view = file.tensor(name).map_err(|error| error.to_string())?;
    let shape: Vec<i64> = view.shape().iter().map(|&length| length as i64).collect();
    if view.dtype() != Dtype::F32 || shape != like.size() {
        return Err(format!("{name} is {:?} {shape:?}, and float32 {:?} is needed", view.dtype(), like.size()));
    }
    let values = view.data().as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect::<Vec<_>>();
    ledger.cross(Direction::Up, SITE, size_of_val(&*values));
    Ok(Tensor::from_slice(&values).reshape(shape).to_device(like.device()))
}
