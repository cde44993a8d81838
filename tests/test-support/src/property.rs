//! Random tests that record a failure, and say how to replay it.

// Here alone, as clippy.toml says.
#![allow(clippy::disallowed_types)]

use std::{
    env,
    fmt::Debug,
    hash::BuildHasher,
    path::{Path, PathBuf},
};

use proptest::{
    strategy::Strategy,
    test_runner::{
        Config, FileFailurePersistence, RngAlgorithm, RngSeed, TestCaseError, TestCaseResult, TestError, TestRng,
        TestRunner,
    },
};

const SEED: &str = "TRISAGE_TEST_SEED";

/// A random test.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name: that of the test function, perhaps with the path of its module. No other has the same.
    pub name: &'static str,
    /// Random cases to try.
    pub cases: u32,
    /// Folder in which failing cases are recorded, in `NAME.txt`; they are tried first from then on.
    pub regressions: PathBuf,
}

impl Property {
    /// A property whose failing cases are recorded in `tests/regressions/`.
    pub fn new(name: &'static str, cases: u32) -> Self {
        Self { name, cases, regressions: Path::new(env!("CARGO_MANIFEST_DIR")).join("../regressions") }
    }

    /// Checks random cases of `strategy`. A failing one is shrunk and recorded; `explain` may add to what is said of it.
    ///
    /// # Panics
    /// With the shrunk case, what is wrong with it, and the command that replays it.
    pub fn check<S>(
        &self,
        strategy: &S,
        check: impl Fn(&S::Value) -> Result<(), String>,
        explain: impl Fn(&S::Value) -> String,
    ) where
        S: Strategy,
        S::Value: Debug,
    {
        self.run(strategy, |case| check(&case).map_err(TestCaseError::fail), explain);
    }

    /// The same for a check that asserts, with `prop_assert!` or `assert!`.
    ///
    /// # Panics
    /// As [`Self::check`].
    pub fn holds<S>(&self, strategy: &S, check: impl Fn(S::Value) -> TestCaseResult)
    where
        S: Strategy,
        S::Value: Debug,
    {
        self.run(strategy, check, |_| String::new());
    }

    fn run<S>(&self, strategy: &S, check: impl Fn(S::Value) -> TestCaseResult, explain: impl Fn(&S::Value) -> String)
    where
        S: Strategy,
        S::Value: Debug,
    {
        let function = self.name.rsplit("::").next().unwrap_or(self.name);
        let seed = env::var(SEED).ok().map_or_else(
            || std::hash::RandomState::new().hash_one(self.name),
            |text| text.parse().unwrap_or_else(|_| panic!("{SEED} is '{text}'; it must be a whole number below 2^64")),
        );
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let recorded = self.regressions.join(format!("{}.txt", self.name.replace("::", "."))).display().to_string();
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(config(self.cases, recorded), rng);
        match runner.run(strategy, check) {
            Ok(()) => {}
            Err(TestError::Fail(why, case)) => {
                let more = explain(&case);
                let more = if more.is_empty() { more } else { more + "\n" };
                panic!("{why}\nsmallest case found: {case:#?}\n{more}replay: {SEED}={seed} ./just test {function}")
            }
            Err(TestError::Abort(why)) => panic!("no case could be tried: {why}"),
        }
    }
}

/// Nothing of it is left to `Config::default`, which proptest takes from the user's PROPTEST_... variables.
fn config(cases: u32, recorded: String) -> Config {
    Config {
        cases,
        // Proptest wants a static path; there is one per property.
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(recorded.leak()))),
        max_shrink_iters: 2000,
        max_shrink_time: 0,
        max_local_rejects: 65_536,
        max_global_rejects: 1024,
        max_flat_map_regens: 1_000_000,
        max_default_size_range: 100,
        verbose: 0,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Random, // never used, as the runner is given its generator
        ..Config::default()
    }
}

/// Functions that are a [`Property`] each: `#[test] fn name(pattern in strategy, ...) { assertions }`. They are checked with 256
/// cases, or with as many as `cases: NUMBER;` before the first one says.
#[macro_export]
macro_rules! properties {
    (cases: $cases:expr; $($(#[$meta:meta])* fn $name:ident($($argument:pat in $strategy:expr),+ $(,)?) $body:block)+) => {
        $(
            $(#[$meta])*
            fn $name() {
                $crate::Property::new(concat!(module_path!(), "::", stringify!($name)), $cases).holds(
                    &($($strategy,)+),
                    |($($argument,)+)| -> ::std::result::Result<(), $crate::TestCaseError> {
                        $body
                        Ok(())
                    },
                );
            }
        )+
    };
    ($(#[$meta:meta])* fn $($rest:tt)+) => {
        $crate::properties! { cases: 256; $(#[$meta])* fn $($rest)+ }
    };
}

#[cfg(test)]
mod tests {
    use std::{fs, panic, process::Command};

    use super::*;

    /// What a property that does not hold says, recorded in this folder.
    fn failure(regressions: &Path) -> String {
        let property = Property { regressions: regressions.to_owned(), ..Property::new("module::fails", 100) };
        let outcome = panic::catch_unwind(|| {
            property.holds(&(0..1000u32), |number| {
                assert!(number < 10, "too large");
                Ok(())
            });
        });
        *outcome.expect_err("it does not hold").downcast::<String>().expect("a panic with a text")
    }

    #[test]
    fn a_failure_is_shrunk_recorded_and_says_how_to_replay_it() {
        let folder = tempfile::tempdir().unwrap();
        let text = failure(folder.path());
        assert!(text.starts_with("too large\nsmallest case found: 10\n"), "{text}");
        let (_, replay) = text.rsplit_once("\nreplay: TRISAGE_TEST_SEED=").expect("a command");
        let (seed, command) = replay.split_once(' ').expect("a command");
        assert!(seed.parse::<u64>().is_ok() && command == "./just test fails", "{text}");
        let recorded = fs::read_to_string(folder.path().join("module.fails.txt")).unwrap();
        assert!(recorded.lines().any(|line| line.starts_with("cc ") && line.ends_with("shrinks to 10")), "{recorded}");

        // A recorded case is tried first, and so is the only one that is.
        let cases = std::cell::Cell::new(0);
        let property = Property { regressions: folder.path().to_owned(), ..Property::new("module::fails", 0) };
        property.holds(&(0..1000u32), |number| {
            assert!(number >= 10);
            cases.set(cases.get() + 1);
            Ok(())
        });
        assert_eq!(cases.get(), 1);
    }

    crate::properties! {
        cases: 40;

        #[test]
        fn the_macro_hands_on_every_argument((a, b) in (0..5u8, 5..9u8), c in 9..20u8,) {
            proptest::prop_assert!(a < b);
            assert!(b < c);
        }
    }

    /// Those that would keep a failure from being found, recorded or shrunk.
    #[test]
    fn variables_of_proptest_change_nothing() {
        if env::var_os("PROPTEST_CASES").is_some() {
            a_failure_is_shrunk_recorded_and_says_how_to_replay_it();
            return;
        }
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "property::tests::variables_of_proptest_change_nothing"]);
        for variable in ["CASES", "DISABLE_FAILURE_PERSISTENCE", "MAX_SHRINK_ITERS", "MAX_LOCAL_REJECTS", "RNG_SEED"] {
            command.env(format!("PROPTEST_{variable}"), "0");
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
