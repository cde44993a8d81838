//! Reading a [`GraphSpec`], and saying what is wrong with one.

use std::{ops::RangeInclusive, str::FromStr};

use super::{
    power_law::{EXPONENTS, FREE_OFFSET, Law},
    random::MULTI_DEGREE,
    ratio::Ratio,
    shape::Shape,
    spec::{GraphSpec, Kind, hub_edges},
};
use golden::ID_MAX;

/// Why a text is not a [`GraphSpec`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The text does not start with `gen:` and a kind.
    #[error(
        "'{text}' names no graph to generate; accepted are gen:KIND:KEY=VALUE,... with power-law, rmat, uniform, multi, \
         hub, star, path or empty"
    )]
    Kind {
        /// The whole text.
        text: String,
    },
    /// Something between commas that is no `key=value` of this kind.
    #[error("'{found}' is not understood; accepted is {accepted}")]
    Key {
        /// What is there.
        found: String,
        /// The keys of this kind.
        accepted: &'static str,
    },
    /// A key that is needed.
    #[error("{key} is missing; accepted is {accepted}")]
    Missing {
        /// The key.
        key: &'static str,
        /// The keys of this kind.
        accepted: &'static str,
    },
    /// A key given twice.
    #[error("{key} is given twice; accepted is {accepted}")]
    Twice {
        /// The key.
        key: &'static str,
        /// The keys of this kind.
        accepted: &'static str,
    },
    /// A value that is not possible.
    #[error("{key}={found} is not possible; accepted are {values}")]
    Value {
        /// The key.
        key: &'static str,
        /// Its value.
        found: String,
        /// Values that would be possible.
        values: String,
    },
    /// Numbers that are each possible, but not together.
    #[error("{nodes} nodes would have {edges} edges; accepted are at most {most} for so many nodes")]
    Edges {
        /// The number of nodes.
        nodes: u32,
        /// The number of edges asked for.
        edges: u64,
        /// The most that are possible.
        most: u64,
    },
}

/// How a kind is called, what its text looks like, and what reads it.
struct Syntax {
    kind: &'static str,
    text: &'static str,
    read: fn(&mut Fields) -> Result<Kind, SpecError>,
}

const SYNTAXES: [Syntax; 8] = [
    Syntax {
        kind: "power-law",
        text: "gen:power-law:nodes=N,edges=E,exponent=X[,seed=N] or \
               gen:power-law:shape=arxiv|products|reddit[,scale=R][,seed=N]",
        read: power_law,
    },
    Syntax {
        kind: "rmat",
        text: "gen:rmat:scale=S,edges=E[,seed=N]",
        read: |f| Ok(Kind::Rmat { scale: f.number("scale", 1..=30)?, edges: f.edges()?, seed: f.seed()? }),
    },
    Syntax {
        kind: "uniform",
        text: "gen:uniform:nodes=N,edges=E[,seed=N]",
        read: |f| Ok(Kind::Uniform { nodes: f.number("nodes", 1..=ID_MAX)?, edges: f.edges()?, seed: f.seed()? }),
    },
    Syntax {
        kind: "multi",
        text: "gen:multi:nodes=N[,seed=N]",
        read: |f| Ok(Kind::Multi { nodes: f.number("nodes", 1..=ID_MAX / MULTI_DEGREE)?, seed: f.seed()? }),
    },
    Syntax { kind: "hub", text: "gen:hub:nodes=N,hubs=H", read: hub },
    Syntax {
        kind: "star",
        text: "gen:star:nodes=N",
        read: |f| Ok(Kind::Star { nodes: f.number("nodes", 1..=ID_MAX / 2)? }),
    },
    Syntax {
        kind: "path",
        text: "gen:path:nodes=N",
        read: |f| Ok(Kind::Path { nodes: f.number("nodes", 1..=ID_MAX)? }),
    },
    Syntax {
        kind: "empty",
        text: "gen:empty:nodes=N",
        read: |f| Ok(Kind::Empty { nodes: f.number("nodes", 0..=ID_MAX)? }),
    },
];

impl FromStr for GraphSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let unknown = || SpecError::Kind { text: text.to_owned() };
        let rest = text.trim().strip_prefix(Self::PREFIX).ok_or_else(unknown)?;
        let (kind, fields) = rest.split_once(':').ok_or_else(unknown)?;
        let syntax = SYNTAXES.iter().find(|syntax| syntax.kind == kind).ok_or_else(unknown)?;
        let mut fields = Fields { left: fields.split(',').collect(), accepted: syntax.text };
        let kind = (syntax.read)(&mut fields)?;
        match fields.left.first() {
            None => Ok(Self(kind)),
            Some(&found) => Err(SpecError::Key { found: found.to_owned(), accepted: syntax.text }),
        }
    }
}

fn hub(fields: &mut Fields) -> Result<Kind, SpecError> {
    let nodes = fields.number("nodes", 1..=ID_MAX)?;
    let hubs = fields.number("hubs", 1..=nodes)?;
    let edges = hub_edges(nodes, hubs);
    if edges > u64::from(ID_MAX) {
        return Err(SpecError::Edges { nodes, edges, most: u64::from(ID_MAX) });
    }
    Ok(Kind::Hub { nodes, hubs })
}

fn power_law(fields: &mut Fields) -> Result<Kind, SpecError> {
    let (law, shape) = match fields.take("shape")? {
        Some(name) => {
            let (shape, scale) = (shape_of(name)?, fields.scale()?);
            (shape.scaled(scale), Some((shape, scale)))
        }
        None => (free_law(fields)?, None),
    };
    if let (0, Some((_, scale))) = (law.nodes, shape) {
        let values = "scales that leave a node".to_owned();
        return Err(SpecError::Value { key: "scale", found: scale.to_string(), values });
    }
    if law.pairs > law.most_pairs() {
        let (edges, most) = (2 * u64::from(law.pairs), 2 * u64::from(law.most_pairs()));
        return Err(SpecError::Edges { nodes: law.nodes, edges, most });
    }
    Ok(Kind::PowerLaw { law, shape, seed: fields.seed()? })
}

fn shape_of(name: &str) -> Result<Shape, SpecError> {
    let values = || Shape::ALL.map(Shape::name).join(", ");
    let shape = Shape::ALL.into_iter().find(|shape| shape.name() == name);
    shape.ok_or_else(|| SpecError::Value { key: "shape", found: name.to_owned(), values: values() })
}

fn free_law(fields: &mut Fields) -> Result<Law, SpecError> {
    let nodes = fields.number("nodes", 1..=ID_MAX)?;
    let edges = fields.edges()?;
    if edges % 2 == 1 {
        let values = "even numbers, for each edge counts in both directions";
        return Err(SpecError::Value { key: "edges", found: edges.to_string(), values: values.to_owned() });
    }
    let found = fields.need("exponent")?;
    let hundredths = |ratio: Ratio| (100 % ratio.denominator == 0).then(|| ratio.of(100));
    let exponent = found.parse().ok().and_then(hundredths).filter(|hundredths| EXPONENTS.contains(hundredths));
    let exponent = exponent.ok_or_else(|| SpecError::Value {
        key: "exponent",
        found: found.to_owned(),
        values: "2.1 to 5, with at most two decimals".to_owned(),
    })?;
    Ok(Law { nodes, pairs: edges / 2, exponent: exponent as u32, offset: FREE_OFFSET })
}

/// The `key=value` pairs that nobody has asked for yet.
struct Fields<'a> {
    left: Vec<&'a str>,
    accepted: &'static str,
}

impl<'a> Fields<'a> {
    /// The value of `key`, if it is given.
    fn take(&mut self, key: &'static str) -> Result<Option<&'a str>, SpecError> {
        let value = |field: &&'a str| field.split_once('=').filter(|(name, _)| *name == key).map(|(_, value)| value);
        let mut values = self.left.iter().filter_map(value);
        let first = values.next();
        if values.next().is_some() {
            return Err(SpecError::Twice { key, accepted: self.accepted });
        }
        self.left.retain(|field| value(field).is_none());
        Ok(first)
    }

    fn need(&mut self, key: &'static str) -> Result<&'a str, SpecError> {
        self.take(key)?.ok_or(SpecError::Missing { key, accepted: self.accepted })
    }

    fn number(&mut self, key: &'static str, range: RangeInclusive<u32>) -> Result<u32, SpecError> {
        let found = self.need(key)?;
        found.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| SpecError::Value {
            key,
            found: found.to_owned(),
            values: format!("whole numbers {} to {}", range.start(), range.end()),
        })
    }

    fn edges(&mut self) -> Result<u32, SpecError> {
        self.number("edges", 0..=ID_MAX)
    }

    /// 0 unless given.
    fn seed(&mut self) -> Result<u64, SpecError> {
        let Some(found) = self.take("seed")? else { return Ok(0) };
        let values = || format!("whole numbers 0 to {}", u64::MAX);
        found.parse().map_err(|_| SpecError::Value { key: "seed", found: found.to_owned(), values: values() })
    }

    /// 1 unless given.
    fn scale(&mut self) -> Result<Ratio, SpecError> {
        let found = self.take("scale")?.unwrap_or("1");
        let scale = found.parse().ok().filter(|scale: &Ratio| (1..=scale.denominator).contains(&scale.numerator));
        scale.ok_or_else(|| SpecError::Value {
            key: "scale",
            found: found.to_owned(),
            values: "fractions and decimals above 0 and up to 1, such as 1/16 or 0.05".to_owned(),
        })
    }
}
