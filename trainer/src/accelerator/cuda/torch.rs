//! libtorch on a GPU: its part for CUDA is loaded when a GPU is asked for, so that one program serves machines with a GPU and
//! without.

use std::{env, ffi::OsString, fs, path::PathBuf, sync::OnceLock};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use tch::{Device, Tensor};

use super::{CUDA, CudaAccelerator, CudaBuffer, CudaStream, refused, sys, unavailable};
use crate::accelerator::{
    Accelerator, AcceleratorError, Result,
    torch::{Current, Lent, Properties, TorchAccelerator, admit, lend},
};

/// The part of libtorch for CUDA. It registers its kernels when it is loaded.
const LIBRARY: &str = "libtorch_cuda.so";

/// Names a folder in whose `lib` it is, as that of a Python package `torch`.
const FOLDER: &str = "TRISAGE_LIBTORCH";

/// Where it is looked for: the file that was named, or anywhere that the dynamic loader looks.
struct Place {
    file: OsString,
    words: String,
}

impl Place {
    fn new(folder: Option<OsString>) -> Self {
        match folder.filter(|folder| !folder.is_empty()) {
            Some(folder) => {
                let file = PathBuf::from(folder).join("lib").join(LIBRARY);
                Self { words: format!("{}, as {FOLDER} says", file.display()), file: file.into() }
            }
            None => Self {
                file: LIBRARY.into(),
                words: format!(
                    "beside the libtorch that this trisage is linked to, and in LD_LIBRARY_PATH, as {FOLDER} is not set"
                ),
            },
        }
    }

    /// Loads it for the whole process, for ever.
    fn load(&self) -> Result<(), AcceleratorError> {
        // SAFETY: loading it runs its initialisers, which are PyTorch's. All its symbols are needed at once, and others get them:
        // so a version that does not fit is an error here, and libtorch finds what has registered itself.
        let library = unsafe { Library::open(Some(&self.file), RTLD_NOW | RTLD_GLOBAL) };
        let library = library.map_err(|error| {
            // libloading tells the operation, and the loader's own words as the cause.
            let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            unavailable(format!(
                "libtorch's part for it, {LIBRARY}, cannot be loaded ({}); it was looked for {}; \
                 `.setup/libtorch.sh --cuda` finds or installs it, or set {FOLDER} to the folder of a PyTorch 2.11.0 with CUDA",
                cause.trim_end_matches('.'),
                self.words
            ))
        })?;
        std::mem::forget(library);
        Ok(())
    }
}

/// Makes libtorch know GPUs. This comes before libtorch is asked anything about them, as it remembers the answer.
fn load() -> Result<()> {
    static LOADED: OnceLock<Result<()>> = OnceLock::new();
    let load = || {
        // cuBLAS computes the same bits each time only with a workspace of fixed size, and libtorch insists on that.
        const WORKSPACE: &str = "CUBLAS_WORKSPACE_CONFIG";
        if env::var_os(WORKSPACE).is_none() {
            // SAFETY: no other thread of ours reads the environment but through `std`, and libtorch has no GPU threads yet.
            unsafe { env::set_var(WORKSPACE, ":4096:8") };
        }
        Place::new(env::var_os(FOLDER)).load()
    };
    LOADED.get_or_init(load).clone()
}

impl TorchAccelerator for CudaAccelerator {
    fn open(&self) -> Result<Device> {
        load()?;
        let (gpu, gpus) = (self.context.ordinal(), tch::Cuda::device_count());
        if usize::try_from(gpus).unwrap_or(0) <= gpu {
            return Err(unavailable(format!(
                "libtorch finds {gpus} GPUs where the driver has GPU {gpu}; PyTorch 2.11.0 is for CUDA 13, whose drivers are 580 \
                 or newer"
            )));
        }
        Ok(Device::Cuda(gpu))
    }

    fn properties(&self) -> Result<Properties> {
        let told = |error| refused("what the GPU is", error);
        let mut version = 0;
        // SAFETY: the driver writes an int.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(told)?;
        let cuda = format!("{CUDA} {}", super::version_name(version));
        // The driver's interface tells what it can do; which release it is, its kernel module does.
        let module = fs::read_to_string("/sys/module/nvidia/version").ok();
        let driver = module.map_or_else(|| cuda.clone(), |module| format!("{}, {cuda}", module.trim()));
        let memory = self.context.total_mem().map_err(told)?;
        Ok(Properties { name: self.describe(), driver: Some(driver), memory: Some(memory as u64) })
    }

    fn free_memory(&self) -> Result<Option<u64>> {
        let (free, _) = self.context.mem_get_info().map_err(|error| refused("how much memory is free", error))?;
        Ok(Some(free as u64))
    }

    fn compute<const N: usize, R>(
        &self,
        stream: &CudaStream,
        site: &'static str,
        lent: [Lent<'_, CudaBuffer>; N],
        f: impl FnOnce([Tensor; N]) -> R,
    ) -> Result<R> {
        admit(self.ledger(), site, &lent, |buffer, len| buffer.check(site, len))?;
        let gpu = self.context.ordinal();
        let handle = stream.queue.handle().map_err(stream.failed(site))?;
        // SAFETY: it is a stream of this GPU. `stream` keeps it until this function returns; CUDA ends a stream that is given up
        // only when its work is done.
        let current = unsafe { Current::enter(gpu, handle.cast()) }?;
        let places = lent.map(|lent| lent.place(lent.buffer().memory.address() as *mut _));
        // SAFETY: each place has so many elements of 32 bits in the GPU's memory, or in the host's that is mapped for it; and
        // memory is given back to the system only when the GPU has done what was queued. All of it is work of the stream, and
        // whoever has the buffers orders that with other streams, the card and the host.
        let done = unsafe { lend(Some(gpu), places, f) };
        drop(current);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_one_sentence() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("lib").join(LIBRARY);
        let error = || Place::new(Some(folder.path().into())).load().unwrap_err().to_string();
        let missing = error();
        assert!(missing.starts_with("there is no CUDA: libtorch's part for it, libtorch_cuda.so, cannot be loaded ("));
        assert!(missing.contains("No such file or directory"), "{missing}");
        assert!(missing.contains(&format!("it was looked for {}, as {FOLDER} says", file.display())), "{missing}");
        assert!(missing.contains("`.setup/libtorch.sh --cuda`") && !missing.contains('\n'), "{missing}");

        fs::create_dir(folder.path().join("lib")).unwrap();
        fs::write(&file, "this is no library").unwrap();
        let broken = error();
        assert!(broken.contains("file too short") || broken.contains("invalid ELF header"), "{broken}");
    }

    #[test]
    fn without_a_folder_the_loader_looks() {
        for folder in [None, Some(OsString::new())] {
            let place = Place::new(folder);
            assert_eq!(place.file, LIBRARY);
            assert!(place.words.contains("LD_LIBRARY_PATH"));
        }
    }
}
