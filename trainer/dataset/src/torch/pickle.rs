//! The part of Python's pickle language that `torch.save` uses for a tensor, or a dict of tensors, numbers and words.
//!
//! A pickle is a program for a stack machine that can call any function of Python. This one knows a few names, none of which
//! it runs: `torch._utils._rebuild_tensor_v2`, the classes of storages, and `collections.OrderedDict` without content, the
//! hooks that a saved tensor does not have. Anything else ends the reading. Values nest two deep at most, and memory grows
//! with the length of the pickle.

use std::{collections::HashMap, rc::Rc};

use crate::dtype::Dtype;

/// What was saved under a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Number(i64),
    Tensor(Rc<Tensor>),
    /// A string, a float, a bool or `None`: what it is.
    Other(&'static str),
}

/// Elements of a storage.
#[derive(Debug, PartialEq)]
pub(super) struct Tensor {
    pub(super) storage: Rc<Storage>,
    /// The element of the storage that the first one is.
    pub(super) offset: u64,
    pub(super) shape: Vec<u64>,
    /// By how many elements of the storage each index goes on.
    pub(super) strides: Vec<u64>,
}

/// A file of elements.
#[derive(Debug, PartialEq)]
pub(super) struct Storage {
    pub(super) key: String,
    pub(super) dtype: Dtype,
    pub(super) elements: u64,
}

/// Where the reading ended, and why.
#[derive(Debug, PartialEq)]
pub(super) struct Refusal {
    pub(super) byte: usize,
    pub(super) found: String,
    /// The name of Python's that is not known, if that is why.
    pub(super) object: Option<String>,
}

/// The dict that a pickle makes, or the tensor, under the empty name.
pub(super) fn read(pickle: &[u8]) -> Result<Vec<(Rc<str>, Item)>, Refusal> {
    let mut machine =
        Machine { pickle, at: 0, stack: Vec::new(), marks: Vec::new(), memo: HashMap::new(), object: None };
    let mut start = 0;
    let items = machine.run(&mut start);
    items.map_err(|found| Refusal { byte: start, found, object: machine.object })
}

#[derive(Clone, Debug)]
enum Value {
    None,
    Bool,
    Float,
    Int(i64),
    Text(Rc<str>),
    Tuple(Rc<[Value]>),
    /// The dict that is being filled. There is one, and nothing but the end of the pickle takes it.
    Dict(Vec<(Rc<str>, Item)>),
    RebuildTensor,
    OrderedDict,
    NoHooks,
    StorageClass(Dtype),
    Storage(Rc<Storage>),
    Tensor(Rc<Tensor>),
}

impl Value {
    fn name(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool => "a bool",
            Self::Float => "a float",
            Self::Int(_) => "an int",
            Self::Text(_) => "a string",
            Self::Tuple(_) => "a tuple",
            Self::Dict(_) => "a dict",
            Self::RebuildTensor | Self::OrderedDict => "a function",
            Self::NoHooks => "an OrderedDict",
            Self::StorageClass(_) => "a class of storages",
            Self::Storage(_) => "a storage",
            Self::Tensor(_) => "a tensor",
        }
    }
}

struct Machine<'a> {
    pickle: &'a [u8],
    at: usize,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
    /// The name that was not known.
    object: Option<String>,
}

/// Why an opcode is refused.
type Step<T> = Result<T, String>;

impl Machine<'_> {
    /// `start` is kept at the opcode that is being run.
    fn run(&mut self, start: &mut usize) -> Step<Vec<(Rc<str>, Item)>> {
        if self.bytes(2)? != [0x80, 2] {
            return Err("there is no pickle of protocol 2".to_owned());
        }
        loop {
            *start = self.at;
            let [opcode] = self.array()?;
            match opcode {
                b'.' => return self.end(),
                b'(' => self.marks.push(self.stack.len()),
                b'}' => self.push_dict()?,
                b')' => self.tuple(0)?,
                0x85 => self.tuple(1)?,
                0x86 => self.tuple(2)?,
                0x87 => self.tuple(3)?,
                b't' => {
                    let items = self.stack.len() - self.mark()?;
                    self.tuple(items)?;
                }
                b'N' => self.stack.push(Value::None),
                0x88 | 0x89 => self.stack.push(Value::Bool),
                b'G' => {
                    self.bytes(8)?;
                    self.stack.push(Value::Float);
                }
                b'K' => self.int::<1>(|[byte]| byte.into())?,
                b'M' => self.int(|b| u16::from_le_bytes(b).into())?,
                b'J' => self.int(|b| i32::from_le_bytes(b).into())?,
                0x8a => self.long()?,
                b'X' => self.text()?,
                b'c' => self.global()?,
                b'q' => self.put(|[byte]: [u8; 1]| byte.into())?,
                b'r' => self.put(u32::from_le_bytes)?,
                b'h' => self.get(|[byte]: [u8; 1]| byte.into())?,
                b'j' => self.get(u32::from_le_bytes)?,
                b'Q' => self.storage()?,
                b'R' => self.call()?,
                b's' => {
                    let first = self.top(2)?;
                    self.fill(first)?;
                }
                b'u' => {
                    let first = self.mark()?;
                    self.fill(first)?;
                }
                other => return Err(format!("there is opcode 0x{other:02x}")),
            }
        }
    }

    fn bytes(&mut self, count: usize) -> Step<&[u8]> {
        let bytes = self.pickle[self.at..].get(..count).ok_or("the pickle ends")?;
        self.at += count;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Step<[u8; N]> {
        Ok(self.bytes(N)?.try_into().expect("so many were asked for"))
    }

    /// Where the last `count` values start. What lies below a mark belongs to whoever set it.
    fn top(&self, count: usize) -> Step<usize> {
        let below = self.marks.last().copied().unwrap_or(0);
        self.stack.len().checked_sub(count).filter(|&first| first >= below).ok_or_else(too_few)
    }

    fn pop(&mut self) -> Step<Value> {
        self.top(1)?;
        self.stack.pop().ok_or_else(too_few)
    }

    fn mark(&mut self) -> Step<usize> {
        self.marks.pop().ok_or_else(|| "a mark is missing".to_owned())
    }

    fn int<const N: usize>(&mut self, decode: impl Fn([u8; N]) -> i64) -> Step<()> {
        let value = decode(self.array()?);
        self.stack.push(Value::Int(value));
        Ok(())
    }

    /// A whole number of any length, of which those of 64 bits are read.
    fn long(&mut self) -> Step<()> {
        let [length] = self.array()?;
        let bytes = self.bytes(length.into())?;
        if bytes.len() > 8 {
            return Err(format!("there is an int of {length} bytes"));
        }
        let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let mut extended = [if negative { 0xff } else { 0 }; 8];
        extended[..bytes.len()].copy_from_slice(bytes);
        self.stack.push(Value::Int(i64::from_le_bytes(extended)));
        Ok(())
    }

    fn text(&mut self) -> Step<()> {
        let length = u32::from_le_bytes(self.array()?);
        let text =
            std::str::from_utf8(self.bytes(length as usize)?).map_err(|_| "there is a string that is not UTF-8")?;
        let text = Value::Text(text.into());
        self.stack.push(text);
        Ok(())
    }

    fn line(&mut self) -> Step<&str> {
        let rest = &self.pickle[self.at..];
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or("the pickle ends in a name")?;
        self.at += end + 1;
        std::str::from_utf8(&rest[..end]).map_err(|_| "there is a name that is not UTF-8".to_owned())
    }

    fn global(&mut self) -> Step<()> {
        let module = self.line()?.to_owned();
        let name = self.line()?;
        let known = match (module.as_str(), name) {
            ("torch._utils", "_rebuild_tensor_v2") => Some(Value::RebuildTensor),
            ("collections", "OrderedDict") => Some(Value::OrderedDict),
            ("torch", class) => Dtype::of_storage(class).map(Value::StorageClass),
            _ => None,
        };
        if let Some(known) = known {
            self.stack.push(known);
            return Ok(());
        }
        let name = golden_files::read::excerpt(&format!("{module}.{name}"));
        let found = format!("there is the name {name:?}");
        self.object = Some(name);
        Err(found)
    }

    fn put<const N: usize>(&mut self, decode: impl Fn([u8; N]) -> u32) -> Step<()> {
        let key = decode(self.array()?);
        match self.stack.last() {
            // It is never asked for again, and a copy would not grow with it.
            Some(Value::Dict(_)) => {}
            Some(value) => drop(self.memo.insert(key, value.clone())),
            None => return Err(too_few()),
        }
        Ok(())
    }

    fn get<const N: usize>(&mut self, decode: impl Fn([u8; N]) -> u32) -> Step<()> {
        let key = decode(self.array()?);
        let value = self.memo.get(&key).cloned().ok_or_else(|| format!("there is no value {key} to take again"))?;
        self.stack.push(value);
        Ok(())
    }

    fn tuple(&mut self, items: usize) -> Step<()> {
        let first = self.top(items)?;
        let items: Rc<[Value]> = self.stack.drain(first..).collect();
        let nested = |value: &Value| matches!(value, Value::Tuple(items) if items.iter().any(|item| matches!(item, Value::Tuple(_))));
        if items.iter().any(|item| nested(item) || matches!(item, Value::Dict(_))) {
            return Err("there is a tuple of tuples of tuples, or one with a dict".to_owned());
        }
        self.stack.push(Value::Tuple(items));
        Ok(())
    }

    fn push_dict(&mut self) -> Step<()> {
        if self.stack.iter().any(|value| matches!(value, Value::Dict(_))) {
            return Err("there is a dict in a dict".to_owned());
        }
        self.stack.push(Value::Dict(Vec::new()));
        Ok(())
    }

    /// Enters what lies from `first` on, keys and values, into the dict below.
    fn fill(&mut self, first: usize) -> Step<()> {
        let mut entries = self.stack.drain(first..).collect::<Vec<_>>().into_iter();
        let Some(Value::Dict(dict)) = self.stack.last_mut() else { return Err("there is no dict to fill".to_owned()) };
        while let (Some(key), value) = (entries.next(), entries.next()) {
            let item = match (key, value) {
                (Value::Text(name), Some(Value::Int(number))) => (name, Item::Number(number)),
                (Value::Text(name), Some(Value::Tensor(tensor))) => (name, Item::Tensor(tensor)),
                (Value::Text(name), Some(value @ (Value::Text(_) | Value::Float | Value::Bool | Value::None))) => {
                    (name, Item::Other(value.name()))
                }
                (key, Some(value)) => {
                    return Err(format!("there is a dict from {} to {}", key.name(), value.name()));
                }
                (_, None) => return Err("a dict has a key without a value".to_owned()),
            };
            if dict.iter().any(|(name, _)| *name == item.0) {
                return Err(format!("there is {:?} twice", item.0));
            }
            dict.push(item);
        }
        Ok(())
    }

    /// `('storage', class, key, device, elements)`.
    fn storage(&mut self) -> Step<()> {
        let value = self.pop()?;
        if let Value::Tuple(items) = &value
            && let [
                Value::Text(kind),
                Value::StorageClass(dtype),
                Value::Text(key),
                Value::Text(_),
                Value::Int(elements),
            ] = &**items
            && &**kind == "storage"
            && let Ok(elements) = u64::try_from(*elements)
        {
            let storage = Storage { key: (**key).to_owned(), dtype: *dtype, elements };
            self.stack.push(Value::Storage(Rc::new(storage)));
            return Ok(());
        }
        Err("there is a persistent id of something else than a storage".to_owned())
    }

    fn call(&mut self) -> Step<()> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Value::Tuple(arguments) = arguments else {
            return Err(format!("{} is called with {}", function.name(), arguments.name()));
        };
        let made = match function {
            Value::OrderedDict if arguments.is_empty() => Value::NoHooks,
            Value::RebuildTensor => Value::Tensor(Rc::new(tensor(&arguments)?)),
            other => return Err(format!("{} is called", other.name())),
        };
        self.stack.push(made);
        Ok(())
    }

    fn end(&mut self) -> Step<Vec<(Rc<str>, Item)>> {
        match self.pop()? {
            Value::Dict(dict) if self.stack.is_empty() && self.marks.is_empty() => Ok(dict),
            Value::Tensor(tensor) if self.stack.is_empty() && self.marks.is_empty() => {
                Ok(vec![("".into(), Item::Tensor(tensor))])
            }
            other => Err(format!("{} is at the end, not one tensor or dict alone", other.name())),
        }
    }
}

/// `_rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, hooks[, metadata])`.
fn tensor(arguments: &[Value]) -> Step<Tensor> {
    let [
        Value::Storage(storage),
        Value::Int(offset),
        Value::Tuple(shape),
        Value::Tuple(strides),
        Value::Bool,
        hooks,
        rest @ ..,
    ] = arguments
    else {
        return Err("there is a tensor of other arguments".to_owned());
    };
    if !matches!(hooks, Value::NoHooks | Value::None) || !matches!(rest, [] | [Value::None]) {
        return Err("there is a tensor with hooks or metadata".to_owned());
    }
    let extents = |what: &str, values: &[Value]| {
        let extent = |value: &Value| match value {
            Value::Int(extent) => {
                u64::try_from(*extent).map_err(|_| format!("there is a tensor with the {what} {extent}"))
            }
            other => Err(format!("there is a tensor with {} as {what}", other.name())),
        };
        values.iter().map(extent).collect::<Step<Vec<_>>>()
    };
    let (shape, strides) = (extents("extent", shape)?, extents("stride", strides)?);
    if shape.len() != strides.len() {
        return Err(format!("there is a tensor of {} extents and {} strides", shape.len(), strides.len()));
    }
    let offset = u64::try_from(*offset).map_err(|_| format!("there is a tensor with the offset {offset}"))?;
    Ok(Tensor { storage: Rc::clone(storage), offset, shape, strides })
}

fn too_few() -> String {
    "there are too few values for an opcode".to_owned()
}
