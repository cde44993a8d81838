//! The types of numbers that arrays are made of, whatever file they are in.

use std::fmt;

use half::{bf16, f16};

/// A type of little-endian numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dtype {
    Bool,
    U8,
    I8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Dtype {
    /// By the name that `NumPy` writes.
    pub(super) fn of_numpy(name: &str) -> Option<Self> {
        Some(match name {
            "|b1" => Self::Bool,
            "|u1" => Self::U8,
            "|i1" => Self::I8,
            "<i2" => Self::I16,
            "<u2" => Self::U16,
            "<i4" => Self::I32,
            "<u4" => Self::U32,
            "<i8" => Self::I64,
            "<u8" => Self::U64,
            "<f2" => Self::F16,
            "<f4" => Self::F32,
            "<f8" => Self::F64,
            _ => return None,
        })
    }

    /// By the class of torch's storages.
    pub(super) fn of_storage(class: &str) -> Option<Self> {
        Some(match class {
            "BoolStorage" => Self::Bool,
            "ByteStorage" => Self::U8,
            "CharStorage" => Self::I8,
            "ShortStorage" => Self::I16,
            "IntStorage" => Self::I32,
            "LongStorage" => Self::I64,
            "HalfStorage" => Self::F16,
            "BFloat16Storage" => Self::Bf16,
            "FloatStorage" => Self::F32,
            "DoubleStorage" => Self::F64,
            _ => return None,
        })
    }

    pub(super) fn of_safetensors(dtype: safetensors::Dtype) -> Option<Self> {
        use safetensors::Dtype as Theirs;
        Some(match dtype {
            Theirs::BOOL => Self::Bool,
            Theirs::U8 => Self::U8,
            Theirs::I8 => Self::I8,
            Theirs::I16 => Self::I16,
            Theirs::U16 => Self::U16,
            Theirs::I32 => Self::I32,
            Theirs::U32 => Self::U32,
            Theirs::I64 => Self::I64,
            Theirs::U64 => Self::U64,
            Theirs::F16 => Self::F16,
            Theirs::BF16 => Self::Bf16,
            Theirs::F32 => Self::F32,
            Theirs::F64 => Self::F64,
            _ => return None,
        })
    }

    /// Whether the elements are whole numbers; bools are not.
    pub(super) fn is_whole(self) -> bool {
        !matches!(self, Self::Bool | Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// Bytes of an element.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Hands on the elements in `bytes`, up to the first that is refused.
    ///
    /// As `f64`: every feature, label or mark that can be accepted is exact in it, so whoever looks at a value decides about
    /// the right one. (Of whole numbers beyond 2^53, none of which can be, an error names the nearest.)
    pub(super) fn each<E>(self, bytes: &[u8], take: impl FnMut(f64) -> Result<(), E>) -> Result<(), E> {
        #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 nothing is accepted that needs the last digits")]
        match self {
            Self::Bool | Self::U8 => every(bytes, |[byte]| f64::from(byte), take),
            Self::I8 => every(bytes, |b| i8::from_le_bytes(b).into(), take),
            Self::I16 => every(bytes, |b| i16::from_le_bytes(b).into(), take),
            Self::U16 => every(bytes, |b| u16::from_le_bytes(b).into(), take),
            Self::I32 => every(bytes, |b| i32::from_le_bytes(b).into(), take),
            Self::U32 => every(bytes, |b| u32::from_le_bytes(b).into(), take),
            Self::I64 => every(bytes, |b| i64::from_le_bytes(b) as f64, take),
            Self::U64 => every(bytes, |b| u64::from_le_bytes(b) as f64, take),
            Self::F16 => every(bytes, |b| f16::from_le_bytes(b).into(), take),
            Self::Bf16 => every(bytes, |b| bf16::from_le_bytes(b).into(), take),
            Self::F32 => every(bytes, |b| f32::from_le_bytes(b).into(), take),
            Self::F64 => every(bytes, f64::from_le_bytes, take),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bool => "bool",
            Self::U8 => "uint8",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::U16 => "uint16",
            Self::I32 => "int32",
            Self::U32 => "uint32",
            Self::I64 => "int64",
            Self::U64 => "uint64",
            Self::F16 => "float16",
            Self::Bf16 => "bfloat16",
            Self::F32 => "float32",
            Self::F64 => "float64",
        })
    }
}

fn every<const WIDTH: usize, E>(
    bytes: &[u8],
    decode: impl Fn([u8; WIDTH]) -> f64,
    mut take: impl FnMut(f64) -> Result<(), E>,
) -> Result<(), E> {
    bytes.as_chunks().0.iter().try_for_each(|bytes| take(decode(*bytes)))
}
