//! Which public file is which: path in the data folder, path at the source, checksum, length.

/// One file of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourceFile {
    /// Where it belongs below a data folder.
    pub path: &'static str,
    /// Where it is below the source's address.
    pub source: &'static str,
    /// SHA-256 of the public file, hex.
    pub sha256: &'static str,
    /// Its length in bytes.
    pub bytes: u64,
}

const fn file(
    path: &'static str,
    source: &'static str,
    sha256: &'static str,
    bytes: u64,
) -> SourceFile {
    SourceFile { path, source, sha256, bytes }
}

/// Host of the raw files of public repositories; `HEAD` in the paths is the default branch.
pub(crate) const PUBLIC_HOST: &str = "https://raw.githubusercontent.com";

/// The files of a dataset that can be fetched; empty when its public form cannot be read safely.
pub(crate) fn files_of(name: &str) -> &'static [SourceFile] {
    match name {
        "cora" => &CORA,
        "citeseer" => &CITESEER,
        "pubmed" => &PUBMED,
        "nell" => &NELL,
        "actor" => &ACTOR,
        "chameleon" => &CHAMELEON,
        "chameleon_filtered" => &CHAMELEON_FILTERED,
        "squirrel" => &SQUIRREL,
        "squirrel_filtered" => &SQUIRREL_FILTERED,
        "cornell" => &CORNELL,
        "minesweeper" => &MINESWEEPER,
        _ => &[],
    }
}

const CORA: [SourceFile; 8] = [
    file(
        "cora/ind.cora.x",
        "kimiyoung/planetoid/HEAD/data/ind.cora.x",
        "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        22_119,
    ),
    file(
        "cora/ind.cora.y",
        "kimiyoung/planetoid/HEAD/data/ind.cora.y",
        "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        4_054,
    ),
    file(
        "cora/ind.cora.tx",
        "kimiyoung/planetoid/HEAD/data/ind.cora.tx",
        "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        148_025,
    ),
    file(
        "cora/ind.cora.ty",
        "kimiyoung/planetoid/HEAD/data/ind.cora.ty",
        "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        28_135,
    ),
    file(
        "cora/ind.cora.allx",
        "kimiyoung/planetoid/HEAD/data/ind.cora.allx",
        "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        257_305,
    ),
    file(
        "cora/ind.cora.ally",
        "kimiyoung/planetoid/HEAD/data/ind.cora.ally",
        "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        47_959,
    ),
    file(
        "cora/ind.cora.graph",
        "kimiyoung/planetoid/HEAD/data/ind.cora.graph",
        "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        59_847,
    ),
    file(
        "cora/ind.cora.test.index",
        "kimiyoung/planetoid/HEAD/data/ind.cora.test.index",
        "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        5_000,
    ),
];

const CITESEER: [SourceFile; 8] = [
    file(
        "citeseer/ind.citeseer.x",
        "kimiyoung/planetoid/HEAD/data/ind.citeseer.x",
        "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        31_087,
    ),
    file(
        "citeseer/ind.citeseer.y",
        "kimiyoung/planetoid/HEAD/data/ind.citeseer.y",
        "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        3_014,
    ),
    file(
        "citeseer/ind.citeseer.tx",
        "kimiyoung/planetoid/HEAD/data/ind.citeseer.tx",
        "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        260_321,
    ),
    file(
        "citeseer/ind.citeseer.ty",
        "kimiyoung/planetoid/HEAD/data/ind.citeseer.ty",
        "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        24_135,
    ),
    file(
        "citeseer/ind.citeseer.allx",
        "kimiyoung/planetoid/HEAD/data/ind.citeseer.allx",
        "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        595_021,
    ),
    file(
        "citeseer/ind.citeseer.ally",
        "kimiyoung/planetoid/HEAD/data/ind.citeseer.ally",
        "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        55_623,
    ),
    file(
        "citeseer/ind.citeseer.graph",
        "kimiyoung/planetoid/HEAD/data/ind.citeseer.graph",
        "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        61_987,
    ),
    file(
        "citeseer/ind.citeseer.test.index",
        "kimiyoung/planetoid/HEAD/data/ind.citeseer.test.index",
        "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        5_000,
    ),
];

const PUBMED: [SourceFile; 8] = [
    file(
        "pubmed/ind.pubmed.x",
        "kimiyoung/planetoid/HEAD/data/ind.pubmed.x",
        "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        23_172,
    ),
    file(
        "pubmed/ind.pubmed.y",
        "kimiyoung/planetoid/HEAD/data/ind.pubmed.y",
        "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
        854,
    ),
    file(
        "pubmed/ind.pubmed.tx",
        "kimiyoung/planetoid/HEAD/data/ind.pubmed.tx",
        "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        405_505,
    ),
    file(
        "pubmed/ind.pubmed.ty",
        "kimiyoung/planetoid/HEAD/data/ind.pubmed.ty",
        "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        12_135,
    ),
    file(
        "pubmed/ind.pubmed.allx",
        "kimiyoung/planetoid/HEAD/data/ind.pubmed.allx",
        "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        7_578_385,
    ),
    file(
        "pubmed/ind.pubmed.ally",
        "kimiyoung/planetoid/HEAD/data/ind.pubmed.ally",
        "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        224_739,
    ),
    file(
        "pubmed/ind.pubmed.graph",
        "kimiyoung/planetoid/HEAD/data/ind.pubmed.graph",
        "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        471_808,
    ),
    file(
        "pubmed/ind.pubmed.test.index",
        "kimiyoung/planetoid/HEAD/data/ind.pubmed.test.index",
        "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        6_000,
    ),
];

const NELL: [SourceFile; 7] = [
    file(
        "nell/ind.nell.0.1.x",
        "EdisonLeeeee/GraphData/HEAD/datasets/planetoid/ind.nell.0.1.x",
        "127e23d8192d47b59baeb15accb7194a6df2af0155c783fa631d234dba3d12c8",
        319_678,
    ),
    file(
        "nell/ind.nell.0.1.y",
        "EdisonLeeeee/GraphData/HEAD/datasets/planetoid/ind.nell.0.1.y",
        "8d817a9af3e4d7aff627c733588a0bd2414b6c1599713f0e4280225942007417",
        885_495,
    ),
    file(
        "nell/ind.nell.0.1.tx",
        "EdisonLeeeee/GraphData/HEAD/datasets/planetoid/ind.nell.0.1.tx",
        "c83470933d18bf273f8b956ddaa854c830ecb56bc05a6b89b341ccf251ff9bf0",
        259_454,
    ),
    file(
        "nell/ind.nell.0.1.ty",
        "EdisonLeeeee/GraphData/HEAD/datasets/planetoid/ind.nell.0.1.ty",
        "80795c6632af244521d52175d9352051c491e1e5597d009554f7775f9ed68e04",
        712_455,
    ),
    file(
        "nell/ind.nell.0.1.allx",
        "EdisonLeeeee/GraphData/HEAD/datasets/planetoid/ind.nell.0.1.allx",
        "3de26532dfa0abc1fd5219e820561568db7f4b082b54656fee174a486584e404",
        2_747_249,
    ),
    file(
        "nell/ind.nell.0.1.graph",
        "EdisonLeeeee/GraphData/HEAD/datasets/planetoid/ind.nell.0.1.graph",
        "ff8fa347ae594c60ef396c2758054d0602627f745ea5d70848da51d787df558d",
        2_285_655,
    ),
    file(
        "nell/ind.nell.0.1.test.index",
        "EdisonLeeeee/GraphData/HEAD/datasets/planetoid/ind.nell.0.1.test.index",
        "deaf5262ae65e99a8e65f884743a67b9d717951485c344303cb162b2b65dff1f",
        5_082,
    ),
];

const ACTOR: [SourceFile; 1] = [file(
    "heterophilous/actor.npz",
    "yandex-research/heterophilous-graphs/HEAD/data/actor.npz",
    "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816",
    252_956,
)];

const CHAMELEON: [SourceFile; 1] = [file(
    "heterophilous/chameleon.npz",
    "yandex-research/heterophilous-graphs/HEAD/data/chameleon.npz",
    "4c640bd2877fc4f9f101531e2f977bc16445a54e09a5cb01178df608e552f3fd",
    177_840,
)];

const CHAMELEON_FILTERED: [SourceFile; 1] = [file(
    "heterophilous/chameleon_filtered.npz",
    "yandex-research/heterophilous-graphs/HEAD/data/chameleon_filtered.npz",
    "bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5",
    58_924,
)];

const SQUIRREL: [SourceFile; 1] = [file(
    "heterophilous/squirrel.npz",
    "yandex-research/heterophilous-graphs/HEAD/data/squirrel.npz",
    "d436e3b42c0546b105241c0ab0766097074e68e55f67b133eeb9b0162e55cbd9",
    704_277,
)];

const SQUIRREL_FILTERED: [SourceFile; 1] = [file(
    "heterophilous/squirrel_filtered.npz",
    "yandex-research/heterophilous-graphs/HEAD/data/squirrel_filtered.npz",
    "f06370ffb3116c5de8b7a600005400b2293c025e0ce2f6916d8201a825505ac7",
    208_215,
)];

const CORNELL: [SourceFile; 1] = [file(
    "heterophilous/cornell.npz",
    "yandex-research/heterophilous-graphs/HEAD/data/cornell.npz",
    "684c54ba3daa13b0ba1f04a3d6dd1b1175c1ae9bdeb982851fd4ff96d3aac298",
    30_515,
)];

const MINESWEEPER: [SourceFile; 1] = [file(
    "heterophilous/minesweeper.npz",
    "yandex-research/heterophilous-graphs/HEAD/data/minesweeper.npz",
    "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3",
    135_045,
)];
