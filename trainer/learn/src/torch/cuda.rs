//! libtorch on a GPU: its part for CUDA is loaded when a GPU is asked for, so that one program serves machines with a GPU and
//! without.

#![allow(unsafe_code)]

use std::{env, ffi::OsString, path::PathBuf, sync::OnceLock};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use pipeline::accelerator::{AcceleratorError, Result};
use tch::Device;

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

/// Makes libtorch ready for this GPU.
pub(super) fn open(gpu: usize) -> Result<Device> {
    load()?;
    let gpus = tch::Cuda::device_count();
    if usize::try_from(gpus).unwrap_or(0) <= gpu {
        return Err(unavailable(format!(
            "libtorch finds {gpus} GPUs where the driver has GPU {gpu}; PyTorch 2.11.0 is for CUDA 13, whose drivers are 580 or \
             newer"
        )));
    }
    Ok(Device::Cuda(gpu))
}

fn unavailable(reason: String) -> AcceleratorError {
    AcceleratorError::Unavailable { accelerator: "CUDA", reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
