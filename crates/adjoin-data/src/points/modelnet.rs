//! ModelNet40, packed as NumPy arrays.

use std::path::Path;

use super::cloud::{Cloud, Point, PointDataset};
use super::file::MAX_SHAPE_BYTES;
use super::folder::class_list;
use crate::error::{At, Error, Result};
use crate::read::{Array, limited_bytes};
use crate::split::Split;

/// The file whose presence means that a folder holds the arrays.
pub(super) const LANDMARK: &str = "train_points_i16.npy";

/// Reads ModelNet40 as arrays.
///
/// `folder` holds `classes.txt` (one a line, in the order of the labels) and, for `PART` train and test,
/// `PART_points_i16.npy` (shapes, points, 3; coordinate x 32767) and `PART_labels_u8.npy` (shapes). If
/// there is a `models.tsv` (part, row, class, model), it names the shapes and must agree with the labels.
///
/// The published clouds have mean 0 and largest distance 1 already and are taken as they are. Of every
/// class, 10 % of the published training shapes are for validation, chosen by seed 0: the split is called
/// `official+valid:0.1:0`.
pub fn modelnet40(folder: &Path) -> Result<PointDataset> {
    let class_names = class_list(&folder.join("classes.txt"))?;
    let read = |part: &str| {
        let file = |what: &str| {
            let path = folder.join(format!("{part}_{what}.npy"));
            limited_bytes(&path, MAX_SHAPE_BYTES).map(|bytes| (bytes, At::file(path)))
        };
        let [(points, points_at), (labels, labels_at)] = [file("points_i16")?, file("labels_u8")?];
        let points = Array::parse(&points, points_at)?;
        let labels = Array::parse(&labels, labels_at)?;
        part_clouds(part, points, labels, class_names.len())
    };
    let (mut train, mut test) = (read("train")?, read("test")?);
    let models = folder.join("models.tsv");
    if models.is_file() {
        let bytes = limited_bytes(&models, MAX_SHAPE_BYTES)?;
        name_models(&models, &bytes, &class_names, [&mut train, &mut test])?;
    }
    published(class_names, train, test)
}

/// The dataset of the published parts, with the validation part chosen here: 10 % of every class of the
/// training shapes, by seed 0.
pub(super) fn published(
    class_names: Vec<String>,
    train: Vec<Cloud>,
    test: Vec<Cloud>,
) -> Result<PointDataset> {
    let (trained, all) = (train.len() as u32, (train.len() + test.len()) as u32);
    let split =
        Split::new("official", (0..trained).collect(), Vec::new(), (trained..all).collect())?;
    let clouds = train.into_iter().chain(test).collect();
    let dataset =
        PointDataset { name: "modelnet40".into(), class_names, clouds, split, corruption: None };
    let dataset = dataset.with_validation(0.1, 0)?;
    dataset.validate()?;
    Ok(dataset)
}

fn part_clouds(part: &str, points: Array, labels: Array, classes: usize) -> Result<Vec<Cloud>> {
    let points = points.signed_of(2)?;
    let [count, each] = match points.axes(3)? {
        [count, each, 3] if *each > 0 => [*count, *each],
        shape => {
            let what = format!("shape {shape:?} where (shapes, points, 3) is expected");
            return Err(points.at().error(what, "get the file again"));
        }
    };
    if labels.axes(1)? != [count] {
        let what = format!("{:?} labels for {count} shapes", labels.shape);
        return Err(labels.at().error(what, "get the file again"));
    }
    let labels = known_labels(&labels.at(), &labels.indices()?, classes)?;
    let coordinates = points.floats()?;
    let clouds = coordinates.chunks_exact(each * 3).zip(labels).enumerate();
    Ok(clouds
        .map(|(row, (values, class))| {
            let place = |values: &[f32]| -> Point {
                [values[0], values[1], values[2]].map(|value| value / 32767.0)
            };
            let points = values.chunks_exact(3).map(place).collect();
            Cloud { name: format!("{part} {row}"), class, points }
        })
        .collect())
}

/// The labels, each of which must be that of a class.
pub(super) fn known_labels(at: &At, labels: &[Option<u32>], classes: usize) -> Result<Vec<u32>> {
    let known = |(row, label): (usize, &Option<u32>)| {
        label.filter(|label| (*label as usize) < classes).ok_or_else(|| {
            let shown = label.map_or("a negative number".into(), |label| label.to_string());
            let what = format!("row {row} is of the unknown class {shown}, there are {classes}");
            at.clone().error(what, "get the labels and the names of the classes again")
        })
    };
    labels.iter().enumerate().map(known).collect()
}

/// Gives the shapes the names of their models.
fn name_models(
    path: &Path,
    bytes: &[u8],
    class_names: &[String],
    parts: [&mut [Cloud]; 2],
) -> Result<()> {
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(bytes);
    let header = reader.headers().map_err(|error| Error::from((error, path)))?.clone();
    if header.iter().ne(["part", "row", "class", "model"]) {
        let help = "the first line must be part, row, class, model, with tabs";
        return Err(At::line(path, 1).error("the columns are not as expected", help));
    }
    for record in reader.records() {
        let record = record.map_err(|error| Error::from((error, path)))?;
        let cell = |column: usize| record.get(column).unwrap_or("");
        let at = At::line(path, record.position().map_or(0, csv::Position::line));
        let part = match cell(0) {
            "train" => &mut *parts[0],
            "test" => &mut *parts[1],
            other => {
                let what = format!("`{other}` is neither train nor test");
                return Err(at.field("part").error(what, "get the file again"));
            }
        };
        let row = cell(1).parse::<usize>().ok();
        let Some(cloud) = row.and_then(|row| part.get_mut(row)) else {
            let what = format!("`{}` is not one of {} rows", cell(1), part.len());
            return Err(at.field("row").error(what, "get the file again"));
        };
        let class = class_names.iter().position(|name| name == cell(2));
        if class != Some(cloud.class as usize) {
            let expected = &class_names[cloud.class as usize];
            let what = format!("`{}` where the label says `{expected}`", cell(2));
            return Err(at.field("class").error(what, "get the files again"));
        }
        cloud.name = cell(3).to_string();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::read::written_npy;

    fn clouds(points: &[u8], labels: &[u8]) -> Result<Vec<Cloud>> {
        let points = Array::parse(points, At::file("points.npy"))?;
        part_clouds("train", points, Array::parse(labels, At::file("labels.npy"))?, 2)
    }

    fn shorts(values: &[i16]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn whole_numbers_become_coordinates() {
        let values = shorts(&[32767, 0, -32767, 0, 0, 16384, 0, 0, 0, 0, 0, 0]);
        let points = written_npy("<i2", "(2, 2, 3)", &values);
        let read = clouds(&points, &written_npy("|u1", "(2,)", &[1, 0])).unwrap();
        assert_eq!(read[0].points, [[1.0, 0.0, -1.0], [0.0, 0.0, 16384.0 / 32767.0]]);
        assert_eq!((read[0].class, read[1].class, read[1].name.as_str()), (1, 0, "train 1"));
    }

    #[test]
    fn damaged_arrays_are_refused() {
        let points = written_npy("<i2", "(1, 1, 3)", &[0; 6]);
        let labels = written_npy("|u1", "(1,)", &[1]);
        let error = |points: &[u8], labels: &[u8]| clouds(points, labels).unwrap_err().to_string();
        for (error, part) in [
            (error(&points[..points.len() - 1], &labels), "points.npy: shape"),
            (error(&written_npy("<f4", "(0, 1, 3)", &[]), &labels), "int16"),
            (error(&written_npy("<i2", "(1, 3)", &[0; 6]), &labels), "3 axes"),
            (error(&written_npy("<i2", "(1, 3, 1)", &[0; 6]), &labels), "(shapes, points, 3)"),
            (error(&written_npy("<i2", "(5, 0, 3)", &[]), &labels), "(shapes, points, 3)"),
            (error(&points, &written_npy("|u1", "(2,)", &[1, 1])), "labels.npy: [2] labels"),
            (error(&points, &written_npy("|u1", "(1,)", &[2])), "row 0 is of the unknown class 2"),
            (error(&points, &written_npy("|i1", "(1,)", &[255])), "a negative number"),
            (error(&points, &written_npy("<f4", "(1,)", &[0; 4])), "whole number"),
        ] {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    }

    const HEADER: &str = "part\trow\tclass\tmodel\n";

    fn named(text: &[u8]) -> Result<Vec<Cloud>> {
        let mut clouds = vec![Cloud { name: "train 0".into(), class: 1, points: vec![] }; 2];
        let names = ["bed".to_string(), "chair".to_string()];
        let (train, test) = clouds.split_at_mut(1);
        name_models(Path::new("models.tsv"), text, &names, [train, test])?;
        Ok(clouds)
    }

    #[test]
    fn models_must_agree_with_the_labels() {
        let text = format!("{HEADER}test\t0\tchair\tchair_0890\n");
        let read = named(text.as_bytes()).unwrap();
        assert_eq!((read[0].name.as_str(), read[1].name.as_str()), ("train 0", "chair_0890"));
        for (text, part) in [
            ("a\tb\n".to_string(), "line 1: the columns"),
            (format!("{HEADER}valid\t0\tchair\tx\n"), "line 2, field `part`: `valid`"),
            (format!("{HEADER}test\t1\tchair\tx\n"), "field `row`: `1` is not one of 1 rows"),
            (format!("{HEADER}test\t-1\tchair\tx\n"), "field `row`: `-1`"),
            (
                format!("{HEADER}test\t0\tbed\tx\n"),
                "field `class`: `bed` where the label says `chair`",
            ),
            (format!("{HEADER}test\t0\tsofa\tx\n"), "field `class`: `sofa`"),
            (format!("{HEADER}test\t0\n"), "line 2"),
        ] {
            let error = named(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>, shape in "\\([0-4, ]{0,9}\\)") {
            let labels = written_npy("|u1", "(2,)", &[0, 1]);
            let _ = clouds(&bytes, &labels);
            let _ = clouds(&written_npy("<i2", &shape, &bytes), &labels);
            let _ = clouds(&written_npy("<i2", "(2, 1, 3)", &[0; 12]), &bytes);
            let _ = named(&bytes);
            let _ = named(&[HEADER.as_bytes(), &bytes].concat());
        }
    }
}
