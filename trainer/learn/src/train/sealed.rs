//! Tensors in a file of the format safetensors, with what is to be known of them, under a seal: a digest of both. Whatever is
//! damaged, put together of other files or changed by hand is seen by it.

use std::{collections::HashMap, io};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    digest::{Content, Digest},
    identity::Identity,
};

/// Under which name a file holds what is no tensor, as JSON. There is one such name alone, so that a file's bytes do not
/// depend on an order.
const KEY: &str = "trisage";

/// The format of what stands there.
const FORMAT: u64 = 2;

/// A tensor of float32 in host memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    /// In C order.
    pub(super) elements: Vec<f32>,
}

/// What is known of a file's tensors.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About<T> {
    format: u64,
    /// The name of the file, so that one is not taken for the other.
    file: String,
    /// The digest of `made`.
    run: Digest,
    /// What the run is made of.
    made: Identity,
    /// What this file says beside its tensors.
    pub(super) state: T,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label<T> {
    seal: Digest,
    about: About<T>,
}

/// A file that is complete in memory.
#[derive(Debug, PartialEq)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) seal: Digest,
}

/// The file `name` of a run, with these tensors.
pub(super) fn encode<T: Serialize>(name: &str, made: &Identity, state: T, tensors: &[Block]) -> io::Result<Encoded> {
    let about = About { format: FORMAT, file: name.to_owned(), run: made.run(), made: made.clone(), state };
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let blocks: Vec<_> = tensors.iter().map(|tensor| (&*tensor.name, &tensor.shape, bytes(&tensor.elements))).collect();
    let views = blocks.iter().map(|&(name, shape, ref bytes)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes).map_err(io::Error::other)?;
        Ok((name, view))
    });
    let views = views.collect::<io::Result<Vec<_>>>()?;
    let seal = seal(&about, views.iter().map(|(name, view)| (*name, view)))?;
    let label = HashMap::from([(KEY.to_owned(), serde_json::to_string(&Label { seal, about })?)]);
    let bytes = safetensors::serialize(views, Some(label)).map_err(io::Error::other)?;
    Ok(Encoded { bytes, seal })
}

/// The seal of a file.
fn seal<'a, T: Serialize>(
    about: &About<T>,
    tensors: impl Iterator<Item = (&'a str, &'a TensorView<'a>)>,
) -> io::Result<Digest> {
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_unstable_by_key(|&(name, _)| name);
    let content = Content::new("file").text(&serde_json::to_string(about)?);
    let tensor = |content: Content, (name, view): (&str, &TensorView<'_>)| {
        content.text(name).text(&format!("{:?} {:?}", view.dtype(), view.shape())).bytes(view.data())
    };
    Ok(tensors.into_iter().fold(content, tensor).finish())
}

/// What is said of a file whose seal is broken.
const BROKEN: &str = "it is damaged: its digest is not the one of what was written";

/// A file whose tensors have not been looked at.
pub(super) struct Sealed<'a, T> {
    pub(super) seal: Digest,
    pub(super) about: About<T>,
    file: SafeTensors<'a>,
}

impl<'a, T: Serialize + DeserializeOwned> Sealed<'a, T> {
    /// Takes the bytes of a file, which has to be the file `name` of a run. What is wrong with them is a sentence.
    pub(super) fn open(name: &str, bytes: &'a [u8]) -> Result<Self, String> {
        let damaged = |error| format!("it is damaged, or no safetensors file: {error}");
        let file = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let text = text.ok_or("it was not written by trisage")?;
        let other = |error| format!("it was written by another version of trisage: {error}");
        let label: Value = serde_json::from_str(text).map_err(other)?;
        match &label["about"]["format"] {
            Value::Null => {
                return Err(
                    "it was written by an older trisage, which did not note what a run is made of: whether it belongs \
                            to this data set and these settings cannot be known; begin again with --overwrite, or give \
                            another folder for the results"
                        .to_owned(),
                );
            }
            format if *format != FORMAT => {
                return Err(format!(
                    "it was written by another version of trisage, in format {format}, and this one reads format {FORMAT}"
                ));
            }
            _ => {}
        }
        if let Some(found) = label["about"]["file"].as_str().filter(|&file| file != name) {
            return Err(format!("it is a {found} under the name of {name}"));
        }
        let Label { seal, about } = serde_json::from_value::<Label<T>>(label).map_err(other)?;
        if about.run != about.made.run() {
            return Err(BROKEN.to_owned());
        }
        Ok(Self { seal, about, file })
    }

    /// In what its run differs from this one, and what to do about it.
    pub(super) fn differs(&self, made: &Identity) -> Result<(), [String; 2]> {
        made.differs(&self.about.made).map_or(Ok(()), Err)
    }

    /// The tensors of these names and shapes, in this order; those that are to be finite are. The seal is whole.
    pub(super) fn tensors<'n>(
        &self,
        wanted: impl IntoIterator<Item = (&'n str, &'n [usize], Finite)>,
    ) -> Result<Vec<Block>, String> {
        let wanted = wanted.into_iter().map(|(name, shape, finite)| {
            let view = self.file.tensor(name).map_err(|_| format!("it has no tensor {name}"))?;
            if view.dtype() != Dtype::F32 || view.shape() != shape {
                return Err(format!("{name} is {:?} {:?}, and F32 {shape:?} is needed", view.dtype(), view.shape()));
            }
            let elements: Vec<f32> = view.data().as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            if finite == Finite::Yes && !elements.iter().all(|element| element.is_finite()) {
                return Err(format!("{name} has elements that are infinite or not numbers"));
            }
            Ok(Block { name: name.to_owned(), shape: shape.to_vec(), elements })
        });
        let tensors = wanted.collect::<Result<_, _>>()?;
        let found = self.file.tensors();
        match seal(&self.about, found.iter().map(|(name, view)| (&**name, view))) {
            Ok(seal) if seal == self.seal => Ok(tensors),
            _ => Err(BROKEN.to_owned()),
        }
    }
}

/// Whether elements have to be finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finite {
    /// They have to.
    Yes,
    /// An overflow is theirs to have.
    No,
}
