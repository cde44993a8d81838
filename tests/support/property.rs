//! Random tests that say how to replay a failure.

use std::{
    env,
    fmt::Debug,
    hash::BuildHasher,
    path::{Path, PathBuf},
};

use proptest::{
    strategy::Strategy,
    test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};

const SEED: &str = "TRISAGE_TEST_SEED";

/// A random test.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name: that of the test function.
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
        let Self { name, cases, regressions } = self;
        let seed = env::var(SEED).ok().map_or_else(
            || std::hash::RandomState::new().hash_one(name),
            |text| text.parse().unwrap_or_else(|_| panic!("{SEED} is '{text}'; it must be a whole number below 2^64")),
        );
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let recorded = regressions.join(name).with_extension("txt").display().to_string();
        let config = Config {
            cases: *cases,
            // Proptest wants a static path; there is one per property.
            failure_persistence: Some(Box::new(FileFailurePersistence::Direct(recorded.leak()))),
            max_shrink_iters: 2000,
            ..Config::default()
        };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        match runner.run(strategy, |case| check(&case).map_err(TestCaseError::fail)) {
            Ok(()) => {}
            Err(TestError::Fail(why, case)) => {
                let more = explain(&case);
                panic!(
                    "{why}\nsmallest case found: {case:#?}\n{more}\nreplay: {SEED}={seed} ./just test -p tests -- {name}"
                )
            }
            Err(TestError::Abort(why)) => panic!("no case could be tried: {why}"),
        }
    }
}
