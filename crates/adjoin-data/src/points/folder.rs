//! A user's own shapes: a folder with a folder for each class.

use std::path::{Path, PathBuf};

use super::choose::stratified;
use super::cloud::{Cloud, PointDataset, unit_sphere};
use super::corrupt::{Corruption, all_test};
use super::file::{MAX_SHAPE_BYTES, ending, file_points};
use super::write::CORRUPTION;
use crate::error::{At, Error, Result};
use crate::random::SplitMix64;
use crate::read::{limited_bytes, text_of};
use crate::split::Split;

/// Most points of all shapes together, 3 GiB of them.
const MAX_POINTS: usize = 1 << 28;

/// Settings of [`folder()`].
#[derive(Debug, Clone, PartialEq)]
pub struct FolderConfig {
    /// Points drawn from a mesh. Files of points keep all they have.
    pub points: usize,
    /// Share of the shapes of every class for validation: of all shapes, or of those in `train`.
    pub valid: f64,
    /// Share of the shapes of every class for testing, where no folder `test` says which.
    pub test: f64,
    /// Seed of the points drawn and of the shares.
    pub seed: u64,
}

impl Default for FolderConfig {
    fn default() -> Self {
        Self { points: 1024, valid: 0.1, test: 0.2, seed: 0 }
    }
}

/// Reads `FOLDER/CLASS/*` or, as ModelNet is published, `FOLDER/CLASS/{train,test}/*`.
///
/// A file is read by its ending (see [`geometry`](super::geometry)); other files are passed over, and
/// so are folders whose names start with a dot or with `__`. Classes are in the order of their names, or
/// of the lines of `FOLDER/classes.txt`. Every cloud is centred and scaled
/// ([`unit_sphere`](super::unit_sphere)). A folder with a `corruption.txt`
/// ([`write_corrupted`](super::write_corrupted)) is all for testing, and its clouds stay as they are.
pub fn folder(path: &Path, config: &FolderConfig) -> Result<PointDataset> {
    if !(1..=1 << 20).contains(&config.points) {
        let (what, help) = (format!("{} drawn", config.points), "give 1 to a million".into());
        return Err(Error::Setting { setting: "points", what, help });
    }
    let class_names = classes(path)?;
    let corruption = corruption(path)?;
    let parts = |class: &String| ["train", "test"].map(|part| path.join(class).join(part));
    let divided = class_names.iter().flat_map(parts).any(|part| part.is_dir());
    let scaled = corruption.is_none();
    let mut shapes = Shapes { config, root: path, scaled, clouds: Vec::new(), points: 0 };
    let mut official = [Vec::new(), Vec::new()];
    for (class, name) in class_names.iter().enumerate() {
        if !divided {
            shapes.read(&path.join(name), class as u32)?;
            continue;
        }
        for (part, shapes_in) in parts(name).iter().zip(&mut official) {
            let first = shapes.clouds.len() as u32;
            shapes.read(part, class as u32)?;
            shapes_in.extend(first..shapes.clouds.len() as u32);
        }
    }
    let clouds = shapes.clouds;
    let [train, test] = official;
    let split = match (divided, corruption) {
        (_, Some(_)) => all_test(clouds.len())?,
        (true, None) => Split::new("official", train, Vec::new(), test)?,
        (false, None) => stratified(&clouds, config.valid, config.test, config.seed)?,
    };
    let name = path.file_name().map_or("shapes".into(), |name| name.to_string_lossy().into_owned());
    let mut dataset = PointDataset { name, class_names, clouds, split, corruption };
    if divided && corruption.is_none() {
        dataset = dataset.with_validation(config.valid, config.seed)?;
    }
    dataset.validate()?;
    Ok(dataset)
}

/// How the clouds of a folder were damaged, if they were.
fn corruption(path: &Path) -> Result<Option<Corruption>> {
    let file = path.join(CORRUPTION);
    if !file.is_file() {
        return Ok(None);
    }
    let bytes = limited_bytes(&file, MAX_SHAPE_BYTES)?;
    let read = text_of(&file, &bytes)?.parse();
    let wrong = |error: Error| At::file(&file).error(error.to_string(), "write the folder anew");
    read.map(Some).map_err(wrong)
}

/// The names in a file of classes, one a line.
pub(super) fn class_list(path: &Path) -> Result<Vec<String>> {
    let bytes = limited_bytes(path, MAX_SHAPE_BYTES)?;
    let mut names: Vec<String> = Vec::new();
    for (line, name) in text_of(path, &bytes)?.lines().map(str::trim).enumerate() {
        if name.is_empty() {
            continue;
        }
        if names.iter().any(|other| other == name) {
            let at = At::line(path, line as u64 + 1);
            return Err(at.error(format!("class `{name}` is there twice"), "name every class once"));
        }
        names.push(name.to_string());
    }
    match names.is_empty() {
        true => Err(At::file(path).error("no class is named", "name one a line")),
        false => Ok(names),
    }
}

/// The classes: those listed, which must be the folders there are, or the folders.
fn classes(path: &Path) -> Result<Vec<String>> {
    let hidden = |name: &str| name.starts_with('.') || name.starts_with("__");
    let folders = entries(path)?.into_iter().filter(|entry| entry.is_dir());
    let names = folders.filter_map(|entry| Some(entry.file_name()?.to_string_lossy().into_owned()));
    let found: Vec<String> = names.filter(|name| !hidden(name)).collect();
    let help = "make a folder for each class, with its shapes in it";
    if found.is_empty() {
        return Err(At::file(path).error("no folder of a class is in the folder", help));
    }
    let list = path.join("classes.txt");
    if !list.is_file() {
        return Ok(found);
    }
    let listed = class_list(&list)?;
    if let Some(unknown) = found.iter().find(|name| !listed.contains(name)) {
        let what = format!("the folder is of an unknown class `{unknown}`");
        let help = format!("name the class in {}, or move the folder away", list.display());
        return Err(At::file(path.join(unknown)).error(what, help));
    }
    if let Some(missing) = listed.iter().find(|name| !found.contains(name)) {
        return Err(At::file(list).error(format!("class `{missing}` has no folder"), help));
    }
    Ok(listed)
}

/// True for a folder in which there is a folder with shapes, perhaps in `train` or `test`.
pub(super) fn has_classes(path: &Path) -> bool {
    let inside = |path: &Path| entries(path).unwrap_or_default();
    let has_shape = |path: &Path| inside(path).iter().any(|file| is_shape(file));
    inside(path).iter().any(|class| {
        has_shape(class) || ["train", "test"].iter().any(|part| has_shape(&class.join(part)))
    })
}

fn is_shape(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !hidden && ending(path).is_some() && path.is_file()
}

/// What is in a folder, by name.
fn entries(path: &Path) -> Result<Vec<PathBuf>> {
    let wrong = |error| Error::io("list", path, error);
    let read = path.read_dir().map_err(wrong)?;
    let mut paths: Vec<PathBuf> = read
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()
        .map_err(wrong)?;
    paths.sort_unstable();
    Ok(paths)
}

struct Shapes<'a> {
    config: &'a FolderConfig,
    root: &'a Path,
    /// Whether clouds are centred and scaled.
    scaled: bool,
    clouds: Vec<Cloud>,
    points: usize,
}

impl Shapes<'_> {
    fn read(&mut self, folder: &Path, class: u32) -> Result<()> {
        let files: Vec<PathBuf> =
            entries(folder)?.into_iter().filter(|path| is_shape(path)).collect();
        if files.is_empty() {
            let help = "put .off, .ply, .xyz, .txt, .csv or .npy files there, or remove the folder";
            return Err(At::file(folder).error("no shape is in the folder", help));
        }
        for file in files {
            let mut random = SplitMix64::keyed(self.config.seed, self.clouds.len() as u64);
            let mut points = file_points(&file, self.config.points, &mut random)?;
            if self.scaled {
                unit_sphere(&mut points);
            }
            self.points += points.len();
            if self.points > MAX_POINTS {
                let what = format!("more than {MAX_POINTS} points with the shapes before");
                return Err(Error::TooLarge { at: Box::new(At::file(file)), what });
            }
            let inner = file.strip_prefix(self.root).unwrap_or(&file);
            self.clouds.push(Cloud { name: inner.display().to_string(), class, points });
        }
        Ok(())
    }
}
