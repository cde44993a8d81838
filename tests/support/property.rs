//! Random tests that say how to replay a failure.

use std::{env, fmt::Debug, hash::BuildHasher, path::Path};

use proptest::{
    strategy::Strategy,
    test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};

const SEED: &str = "TRISAGE_TEST_SEED";

/// Checks `cases` random cases of `strategy`; a failing one is shrunk, and recorded in `tests/regressions/NAME.txt`, from
/// where it is tried first from then on.
///
/// # Panics
/// With the shrunk case, what is wrong with it, and the command that replays it.
pub fn check_property<S>(name: &str, cases: u32, strategy: &S, check: impl Fn(S::Value) -> Result<(), String>)
where
    S: Strategy,
    S::Value: Debug,
{
    let seed = env::var(SEED).ok().map_or_else(
        || std::hash::RandomState::new().hash_one(name),
        |text| text.parse().unwrap_or_else(|_| panic!("{SEED} is '{text}'; it must be a whole number below 2^64")),
    );
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(name).with_extension("txt");
    let config = Config {
        cases,
        // Proptest wants a static path; there is one per property.
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(recorded.display().to_string().leak()))),
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    match runner.run(strategy, |case| check(case).map_err(TestCaseError::fail)) {
        Ok(()) => {}
        Err(TestError::Fail(why, case)) => {
            panic!("{why}\nsmallest case found: {case:#?}\nreplay: {SEED}={seed} ./just test -p tests -- {name}")
        }
        Err(TestError::Abort(why)) => panic!("no case could be tried: {why}"),
    }
}
