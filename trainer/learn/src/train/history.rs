//! The history of a run as a table of text: `history.csv`.

use std::fmt::Write as _;

use super::{Accuracy, Record};

const HEAD: &str = "epoch,loss,valid_accuracy,test_accuracy";

/// A line for each epoch. Numbers are written so that they are read again bit for bit.
pub(super) fn text(history: &[Record]) -> String {
    let mut lines = format!("{HEAD}\n");
    for Record { epoch, loss, accuracy } in history {
        let cell = |part: Option<f64>| part.map(|part| part.to_string()).unwrap_or_default();
        let [valid, test] = [accuracy.and_then(|a| a.valid), accuracy.and_then(|a| a.test)].map(cell);
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{epoch},{loss},{valid},{test}");
    }
    lines
}

/// Reads all lines; what is wrong is a sentence.
pub(super) fn parse(text: &str) -> Result<Vec<Record>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err(format!("line 1 is not '{HEAD}'"));
    }
    let line =
        |(line, epoch)| record(line, epoch).ok_or_else(|| format!("line {} is not that of epoch {epoch}", epoch + 1));
    lines.zip(1..).map(line).collect()
}

fn record(line: &str, epoch: u64) -> Option<Record> {
    let cells: Vec<_> = line.split(',').collect();
    let &[number, loss, valid, test] = &cells[..] else { return None };
    let cell = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    let (valid, test) = (cell(valid)?, cell(test)?);
    let accuracy = (valid.is_some() || test.is_some()).then_some(Accuracy { valid, test });
    let record = Record { epoch: number.parse().ok()?, loss: loss.parse().ok()?, accuracy };
    (record.epoch == epoch).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let accuracy = |valid, test| Some(Accuracy { valid, test });
        let read = |line: &str| record(line, 3).map(|record| (record.loss, record.accuracy));
        assert_eq!(read("3,1.5,0.25,0.30000000000000004"), Some((1.5, accuracy(Some(0.25), Some(0.1 + 0.2)))));
        assert_eq!(read("3,1.5,,0.5"), Some((1.5, accuracy(None, Some(0.5)))));
        assert_eq!(read("3,1.5,,"), Some((1.5, None)));
        for line in ["", "3", "4,1.5,,", "3,x,,", "3,1.5,x,", "3,1.5,,,"] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let record = |epoch, loss, accuracy| Record { epoch, loss, accuracy };
        let accuracy = Some(Accuracy { valid: Some(1.0 / 3.0), test: None });
        let history = [record(1, 0.1 + 0.2, None), record(2, f64::MIN_POSITIVE, accuracy)];
        let written = text(&history);
        assert_eq!(parse(&written).unwrap(), history);
        assert_eq!(parse(&written.replace('\n', "\r\n")).unwrap(), history);
        assert_eq!(parse("").unwrap_err(), "line 1 is not 'epoch,loss,valid_accuracy,test_accuracy'");
        assert_eq!(parse(&text(&history[1..])).unwrap_err(), "line 2 is not that of epoch 1");
        assert_eq!(parse(&(written + "\n")).unwrap_err(), "line 4 is not that of epoch 3");
    }
}
