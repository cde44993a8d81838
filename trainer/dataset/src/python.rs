//! Files that only Python can take apart: reading them would run what is in them.

use std::{fs::File, io::Read, path::Path};

use super::{
    error::{DatasetError, Problem},
    torch::TorchFile,
};

/// The first bytes of what `dgl.save_graphs` writes.
const DGL: [u8; 8] = 0xdd2e_4ff0_46b4_a13f_u64.to_le_bytes();

/// What the object in a file is, if there is one; by the file's name and its first bytes.
pub(super) fn object(path: &Path) -> Option<String> {
    if is_planetoids(&path.file_name()?.to_string_lossy().to_lowercase()) {
        return Some("one of Planetoid's pickles".to_owned());
    }
    if path.extension().is_some_and(|ending| ["pt", "pth"].iter().any(|pt| ending.eq_ignore_ascii_case(pt))) {
        return match TorchFile::open(path) {
            Err(DatasetError::Refused { problem: Problem::Object { found }, .. }) => Some(found),
            // What torch has pickled is one, too.
            Err(DatasetError::Refused { problem: Problem::Pickle { found, .. }, .. }) => {
                Some(format!("a pickled Python object: {found}"))
            }
            _ => None,
        };
    }
    let mut start = Vec::new();
    File::open(path).ok()?.take(8).read_to_end(&mut start).ok()?;
    match *start {
        [0x80, 2..=5, ..] => Some("a pickled Python object".to_owned()),
        _ if start == DGL => Some("a graph of DGL's".to_owned()),
        _ => None,
    }
}

/// Whether this is the name of one of the files in which Planetoid publishes Cora and its like: `ind.cora.x`.
fn is_planetoids(name: &str) -> bool {
    name.strip_prefix("ind.").is_some_and(|rest| rest.contains('.'))
}
