//! Options that several commands have.

pub(crate) mod accelerator;
pub(crate) mod faults;
pub(crate) mod source;

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use strum::{EnumMessage, VariantArray};

/// Reads a value of a type that derives its names and meanings.
pub(crate) fn named<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + EnumMessage + FromStr + Clone + Send + Sync + 'static,
    &'static str: From<&'static T>,
{
    let values = T::VARIANTS.iter().map(|value| {
        let meaning = value.get_documentation().map(|meaning| meaning.trim_end_matches('.'));
        PossibleValue::new(<&str>::from(value)).help(meaning.unwrap_or_default())
    });
    PossibleValuesParser::new(values)
        .map(|name| name.parse().unwrap_or_else(|_| unreachable!("clap takes nothing but the names of values")))
}
