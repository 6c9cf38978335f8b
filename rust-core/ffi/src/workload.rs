//! Bridge of workloads: `ferrocc::workload`.

#[cxx::bridge(namespace = "ferrocc::workload")]
pub(crate) mod bridge {
    #[namespace = "ferrocc"]
    extern "C++" {
        include!("ferrocc-ffi/src/types.rs.h");
        type Eid = crate::types::Eid;
    }

    /// The caches on a path.
    #[derive(Debug, Clone)]
    struct PathConfig {
        /// How many there are.
        caches: u32,
        /// Most bytes of complete NDCs in each; zero for no limit.
        capacity_bytes: u64,
        /// Most complete NDCs in each; zero for no limit.
        capacity_ndcs: u64,
        /// Most bytes of incomplete NDCs in each; zero for no limit.
        assembly_bytes: u64,
        /// What a full one evicts.
        policy: String,
        /// Which NDCs they keep.
        placement: String,
        /// Probability that one keeps an NDC.
        probability: f64,
    }

    extern "Rust" {
        type Catalogue;
        type Replay;

        /// The ranks of NDCs by Zipf's law.
        fn new_catalogue(ndcs: u32, alpha: f64) -> Result<Box<Catalogue>>;
        /// The rank, from 0, that a uniform draw in [0, 1) stands for.
        fn rank(self: &Catalogue, draw: f64) -> u32;

        /// Empty caches on a path, on which requests are replayed without packets.
        fn new_replay(config: &PathConfig) -> Result<Box<Replay>>;
        /// How many draws `fetch` needs.
        fn draw_count(self: &Replay) -> usize;
        /// A client at the first cache's router fetches an NDC; `draws` are uniform in [0, 1).
        /// Returns the index of the cache that serves it, or the number of caches if none does.
        fn fetch(self: &mut Replay, ndc: &Eid, size_bytes: u64, draws: &[f64]) -> u32;
        /// What a cache holds, in the order of eviction.
        fn contents(self: &mut Replay, cache: u32) -> &[Eid];
    }
}

use crate::convert;
use crate::types::Eid;
use bridge::PathConfig;
use ferrocc::icn::{
    CacheModel, EvictionPolicy, PathModel, Placement, PlacementRule, StoreOptions, Zipf,
};
use ferrocc::units::Bytes;

/// NDCs by popularity.
pub struct Catalogue(Zipf);

fn new_catalogue(ndcs: u32, alpha: f64) -> Result<Box<Catalogue>, String> {
    Zipf::new(ndcs as usize, alpha).map(|zipf| Box::new(Catalogue(zipf)))
}

impl Catalogue {
    fn rank(&self, draw: f64) -> u32 {
        u32::try_from(self.0.rank(draw)).unwrap_or(u32::MAX)
    }
}

/// Requests replayed on the caches of a path.
pub struct Replay {
    path: PathModel,
    contents: Vec<Eid>,
}

fn new_replay(config: &PathConfig) -> Result<Box<Replay>, String> {
    let store = StoreOptions {
        capacity_ndcs: (config.capacity_ndcs > 0).then_some(config.capacity_ndcs),
        capacity_bytes: (config.capacity_bytes > 0).then(|| Bytes::new(config.capacity_bytes)),
        policy: EvictionPolicy::from_name(&config.policy)?,
    };
    let rule = PlacementRule {
        placement: Placement::from_name(&config.placement)?,
        probability: config.probability,
    };
    let memory = Bytes::new(match config.assembly_bytes {
        0 => u64::MAX,
        bytes => bytes,
    });
    let cache = CacheModel::new(store, rule).assembly_memory(memory);
    let caches = vec![cache; config.caches as usize];
    Ok(Box::new(Replay {
        path: PathModel::new(caches),
        contents: Vec::new(),
    }))
}

impl Replay {
    fn draw_count(&self) -> usize {
        // One for the placement and one for the eviction at each router.
        2 * self.path.caches().len()
    }

    fn fetch(&mut self, ndc: &Eid, size_bytes: u64, draws: &[f64]) -> u32 {
        let mut draws = draws.iter().copied();
        let draw = || draws.next().unwrap_or_default();
        let served = self
            .path
            .fetch(convert::eid(ndc), Bytes::new(size_bytes), draw);
        u32::try_from(served).unwrap_or(u32::MAX)
    }

    fn contents(&mut self, cache: u32) -> &[Eid] {
        self.contents.clear();
        if let Some(cache) = self.path.caches().get(cache as usize) {
            let ndcs = cache.store().ndcs().copied();
            self.contents.extend(ndcs.map(convert::bridge_eid));
        }
        &self.contents
    }
}
