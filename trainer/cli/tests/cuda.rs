//! `--accelerator cuda` where there is a GPU, and where there is none. What holds for any accelerator is in `accelerators.rs`.

use test_support::plain;

#[test]
fn verify_uses_the_gpu_or_says_in_a_sentence_why_it_cannot() {
    let line = "verify --graph gen:star:nodes=500 --fanouts 5,3 --iterations 6 --accelerator cuda";
    let output = plain(env!("CARGO_BIN_EXE_trisage")).args(line.split(' ')).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    if cfg!(feature = "cuda") && output.status.success() {
        assert!(out.contains("EQUAL"), "{out}");
        return;
    }
    eprintln!("verify says: {err}");
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!((out.as_str(), err.lines().count()), ("", 1), "{err}");
    assert!(err.starts_with("error: there is no CUDA: "), "{err}");
    if !cfg!(feature = "cuda") {
        assert!(err.contains("cargo build --release --features trisage/cuda"), "{err}");
    }
}

#[cfg(feature = "cuda")]
mod gpu {
    use std::{
        os::fd::AsRawFd,
        sync::{Arc, Barrier},
    };

    use hw::{HostMemory, MemorySpace, OutputMemory};
    use pipeline::{
        accelerator::{Accelerator, AcceleratorError, CudaAccelerator},
        ledger::{Direction, Ledger},
    };

    /// The GPU; says why there is none.
    fn gpu() -> Option<CudaAccelerator> {
        match CudaAccelerator::new(0, Ledger::default()) {
            Ok(accelerator) => Some(accelerator),
            Err(error @ AcceleratorError::Unavailable { .. }) => {
                eprintln!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_gpu_that_is_not_there_is_named() {
        let error = CudaAccelerator::new(4_096, Ledger::default()).unwrap_err().to_string();
        assert!(error.starts_with("there is no CUDA: "), "{error}");
        assert!(!error.contains('\n') && !error.contains(". "), "{error}");
        if gpu().is_some() {
            assert!(error.contains("the driver has no GPU 4096; it counts "), "{error}");
        }
    }

    #[test]
    fn what_is_exported_is_a_descriptor_of_a_dma_buf() {
        let Some(gpu) = gpu() else { return };
        if let Err(reason) = gpu.export_space() {
            return eprintln!("skipped: {reason}");
        }
        // Small ones may lie in one allocation of the driver's.
        let buffers: Vec<_> = [1, 16_384, 16_385].map(|len| gpu.allocate(format!("{len}"), len).unwrap()).to_vec();
        for (buffer, len) in buffers.iter().zip([1, 16_384, 16_385]) {
            let OutputMemory::DmaBuf(exported) = gpu.export(buffer).unwrap() else { panic!("it is no dma-buf") };
            assert_eq!((exported.len, exported.offset), (len, 0));
            let link = format!("/proc/self/fd/{}", exported.fd.as_raw_fd());
            let name = std::fs::read_link(link).unwrap();
            assert!(name.to_string_lossy().contains("dmabuf"), "{}", name.display());
        }
    }

    #[test]
    fn the_bar_of_a_simulated_card_is_pinned_too() {
        let Some(gpu) = gpu() else { return };
        let memory = Arc::new(HostMemory::new(5_000));
        memory.fill(6);
        let bar = gpu.pin("a BAR".to_owned(), &memory, MemorySpace::CardBar).unwrap();
        assert_eq!(gpu.export(&bar).unwrap().space(), MemorySpace::CardBar);
        let (stream, there) = (gpu.stream("s".to_owned()).unwrap(), gpu.allocate("there".to_owned(), 5_000).unwrap());
        gpu.copy(&stream, (Direction::P2p, "pull"), &bar, &there, 5_000).unwrap();
        assert_eq!(gpu.download(&stream, "down", &there, 5_000).unwrap(), vec![6; 5_000]);
        // The handle unpins it.
        drop(bar);
        drop(gpu.pin("again".to_owned(), &memory, MemorySpace::Host).unwrap());
        gpu.check().unwrap();
    }

    #[test]
    fn check_does_not_wait() {
        let Some(gpu) = gpu() else { return };
        let stream = gpu.stream("s".to_owned()).unwrap();
        let barrier = Arc::new(Barrier::new(2));
        let theirs = Arc::clone(&barrier);
        gpu.then(&stream, Box::new(move || _ = theirs.wait())).unwrap();
        // The stream is in the callback or before it, and goes on only after this.
        gpu.check().unwrap();
        barrier.wait();
        gpu.synchronize(&stream).unwrap();
    }

    #[test]
    fn a_callback_that_panics_is_found_by_check() {
        let Some(gpu) = gpu() else { return };
        let stream = gpu.stream("s".to_owned()).unwrap();
        gpu.then(&stream, Box::new(|| panic!("this is part of the test"))).unwrap();
        gpu.synchronize(&stream).unwrap();
        let error = gpu.check().unwrap_err().to_string();
        assert_eq!(error, "CUDA: what stream 's' calls ended in a panic, which is a bug in trisage");
    }
}
