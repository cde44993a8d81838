//! Numbers in columns, for people.

use std::fmt;

use pipeline::units::float;

/// A table: a name and some cells a row. Names stand left, cells right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    rows: Vec<(String, Vec<String>)>,
}

impl Table {
    pub(crate) fn row(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = String>) {
        self.rows.push((name.into(), cells.into_iter().collect()));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let columns = self.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|(_, cells)| cells.get(column)).map(|c| c.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (name, cells) in &self.rows {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}"));
            let line = format!("{name:names$}{}", cells.collect::<String>());
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A count with a comma between thousands.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate or a size with three digits or so and the prefix k, M or G.
pub(crate) fn scaled(value: f64) -> String {
    let (value, prefix) = match value {
        v if v >= 1e9 => (v / 1e9, " G"),
        v if v >= 1e6 => (v / 1e6, " M"),
        v if v >= 1e3 => (v / 1e3, " k"),
        v => (v, ""),
    };
    format!("{value:.2}{prefix}")
}

/// A number of bytes, up to its "B".
pub(crate) fn bytes(bytes: usize) -> String {
    let text = scaled(float(bytes as u64));
    if text.contains(' ') { text } else { text + " " }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row("", ["a".to_owned(), "bc".to_owned()]);
        table.row("edges", [count(1_234_567), String::new()]);
        assert_eq!(table.to_string(), "               a  bc\nedges  1,234,567\n");
    }

    #[test]
    fn numbers() {
        assert_eq!([0, 999, 1000, 123_456].map(count), ["0", "999", "1,000", "123,456"]);
        assert_eq!([0.5, 1500.0, 2.5e6, 3e9].map(scaled), ["0.50", "1.50 k", "2.50 M", "3.00 G"]);
    }
}
