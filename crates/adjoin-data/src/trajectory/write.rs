//! Writes scenes as a CSV file for [`csv()`](super::csv()).

use std::io;
use std::path::Path;

use super::scene::{Scene, TrajectoryDataset};
use super::table::COLUMNS;
use crate::convert::Existing;
use crate::error::{Error, Result};
use crate::files;

/// Writes every scene as a recording of its own, in the order of training, validation and testing, so that
/// reading whole recordings ([`SplitBy::Scene`](super::SplitBy::Scene)) gives the parts of a
/// [`crowd()`](super::crowd()) back. A column `distractor` is there if anybody is one. The file appears
/// whole or not at all.
pub fn write_csv(dataset: &TrajectoryDataset, path: &Path, existing: Existing) -> Result<()> {
    dataset.validate()?;
    if existing == Existing::Refuse && path.symlink_metadata().is_ok() {
        let help = "choose another name or ask for it to be overwritten";
        return Err(Error::Exists { path: path.to_path_buf(), help });
    }
    let written = table(dataset).and_then(|bytes| files::write(path, &bytes));
    written.map_err(|error| Error::io("write", path, error))
}

fn table(dataset: &TrajectoryDataset) -> io::Result<Vec<u8>> {
    let scenes = || dataset.parts().into_iter().flat_map(|(_, scenes)| scenes);
    let marked = scenes().any(|scene| !scene.distractors.is_empty());
    let columns = if marked { &COLUMNS[..] } else { &COLUMNS[..5] };
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(columns)?;
    for scene in scenes() {
        let Scene { name, agents, .. } = scene;
        for (at, agent) in agents.iter().enumerate() {
            for (frame, [x, y]) in scene.path(at).iter().enumerate() {
                let mut row = vec![name.clone(), frame.to_string(), agent.to_string()];
                row.extend([x.to_string(), y.to_string()]);
                row.extend(marked.then(|| u8::from(!scene.counts(at)).to_string()));
                table.write_record(&row)?;
            }
        }
    }
    table.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::{CrowdConfig, TableConfig, crowd, csv};
    use super::*;

    #[test]
    fn a_crowd_comes_back_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crowd.csv");
        for distractors in [0, 3] {
            let made =
                crowd(&CrowdConfig { scenes: 40, distractors, ..Default::default() }).unwrap();
            write_csv(&made, &path, Existing::Replace).unwrap();
            let read = csv(&path, &TableConfig::default()).unwrap();
            assert_eq!(read.fingerprint(), made.fingerprint());
            assert_eq!(read.test[0].distractors.len(), distractors);
        }
        assert!(
            write_csv(&crowd(&CrowdConfig::default()).unwrap(), &path, Existing::Refuse).is_err()
        );
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen(",1\n", ",maybe\n", 1)).unwrap();
        let error = csv(&path, &TableConfig::default()).unwrap_err().to_string();
        assert!(error.contains("distractor") && error.contains("1 or 0"), "{error}");
    }

    #[test]
    fn a_window_of_distractors_alone_is_left_out() {
        let mut text = "scene,frame,agent,x,y,distractor\n".to_string();
        for frame in 0..40 {
            // The only real agent leaves after frame 29.
            text += &format!("s,{frame},9,0,{frame},1\n");
            if frame < 30 {
                text += &format!("s,{frame},4,{frame},0,0\n");
            }
        }
        let config: TableConfig = "time:1/1".parse().unwrap();
        let read = super::super::csv_bytes(Path::new("own.csv"), text.as_bytes(), &config);
        let error = read.unwrap_err().to_string();
        assert!(error.contains("test: no scene"), "{error}");
    }
}
