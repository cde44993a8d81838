//! Random words for whatever is not sampling, each use with words of its own.

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// The words of one use of chance: those of `ChaCha8` from position 0 of a stream, whose key is the user's seed (8 bytes,
/// little-endian), the 16 bytes of `domain` and 8 zeros.
///
/// Words of the sampling contract have zeros in place of `domain`, whatever the seed, mini-batch and node, so no use shares
/// words with sampling, nor with another.
pub fn words(seed: u64, domain: &[u8; 16], stream: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..24].copy_from_slice(domain);
    let mut words = ChaCha8Rng::from_seed(key);
    words.set_stream(stream);
    words
}
