use proptest::prelude::*;

use super::*;

fn parse(bytes: &[u8]) -> Result<Geometry> {
    ply_bytes(Path::new("a.ply"), bytes)
}

const HEADER: &str = "comment by hand\nelement vertex 4\nproperty uchar red\nproperty double x\n\
    property float y\nproperty short z\nelement edge 1\nproperty list uchar int ends\n\
    element face 1\nproperty list uint ushort vertex_indices\nproperty char flag\nend_header\n";

fn text() -> String {
    let rows = "9 0 0 0\n9 1 0 0\r\n9 1 1 0\n9 0 1 -5\n2 0 1\n4 0 1 2 3 7\n";
    format!("ply\nformat ascii 1.0\n{HEADER}{rows}")
}

/// The same file with its numbers in bytes, turned around or not.
fn binary(big: bool) -> Vec<u8> {
    let name = if big { "big" } else { "little" };
    let mut bytes = format!("ply\r\nformat binary_{name}_endian 1.0\n{HEADER}").into_bytes();
    let mut put = |little: &[u8]| match big {
        true => bytes.extend(little.iter().rev()),
        false => bytes.extend(little),
    };
    for (x, y, z) in [(0.0, 0.0, 0), (1.0, 0.0, 0), (1.0, 1.0, 0), (0.0, 1.0, -5)] {
        put(&[9]);
        put(&f64::to_le_bytes(x));
        put(&f32::to_le_bytes(y));
        put(&i16::to_le_bytes(z));
    }
    put(&[2]);
    [0, 1].iter().for_each(|end| put(&i32::to_le_bytes(*end)));
    put(&u32::to_le_bytes(4));
    [0, 1, 2, 3].iter().for_each(|corner| put(&u16::to_le_bytes(*corner)));
    put(&[7]);
    bytes
}

#[test]
fn the_three_formats_give_the_same_mesh() {
    let Geometry::Surface(mesh) = parse(text().as_bytes()).unwrap() else { panic!("points") };
    assert_eq!(mesh.vertices()[3], [0.0, 1.0, -5.0]);
    assert_eq!(mesh.triangles(), [[0, 1, 2], [0, 2, 3]]);
    for big in [false, true] {
        assert_eq!(parse(&binary(big)).unwrap(), Geometry::Surface(mesh.clone()));
    }
}

#[test]
fn without_faces_it_is_a_cloud() {
    let points = "element vertex 2\nproperty float z\nproperty float x\nproperty float y\n";
    let rows = "end_header\n3 1 2\n3 1 2\n";
    for faces in ["", "element face 0\n", "element face 0\nproperty list uchar int vertex_index\n"]
    {
        let text = format!("ply\nformat ascii 1.0\n{points}{faces}{rows}");
        let cloud = Geometry::Points(vec![[1.0, 2.0, 3.0]; 2]);
        assert_eq!(parse(text.as_bytes()).unwrap(), cloud);
    }
}

#[test]
fn every_cut_is_refused() {
    for bytes in [binary(false), binary(true)] {
        for length in 0..bytes.len() {
            assert!(parse(&bytes[..length]).is_err(), "{length} bytes");
        }
        let error = parse(&bytes[..bytes.len() - 30]).unwrap_err().to_string();
        assert!(
            error.contains("byte") && error.contains("after 3 of 4 rows of `vertex`"),
            "{error}"
        );
    }
    let text = text();
    let error = parse(text[..text.len() - 4].as_bytes()).unwrap_err().to_string();
    assert!(error.contains("line 20: the file ends after 0 of 1 rows of `face`"), "{error}");
}

#[test]
fn wrong_headers_and_rows_are_named() {
    let vertex = "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n";
    let face = "element face 1\nproperty list uchar int vertex_indices\n";
    let with =
        |header: &str, rows: &str| format!("ply\nformat ascii 1.0\n{header}end_header\n{rows}");
    for (text, part) in [
        ("OFF\n".to_string(), "a.ply, line 1: not a PLY file"),
        ("plywood\n".to_string(), "line 1: a line that is not understood"),
        ("ply\nformat ascii 1.0\n".to_string(), "line 2: the header does not end"),
        (format!("ply\n{vertex}end_header\n1 2 3\n"), "the header names no format"),
        ("ply\nformat binary 1.0\n".to_string(), "line 2: a format that is not known"),
        (with("element vertex many\n", ""), "line 3: the number of elements is not whole"),
        (with("element vertex -1\n", ""), "line 3: the number of elements is not whole"),
        (with("property float x\n", ""), "line 3: a property that is not understood"),
        (with("element vertex 1\nproperty half x\n", ""), "line 4: a property that"),
        (with("element vertex 1\nproperty list half int x\n", ""), "line 4: a property that"),
        (with("element vertex 1\nproperty float x\n", ""), "the element `vertex` has no place"),
        (with(&format!("{vertex}property int x\n"), ""), "the element `vertex` has no place"),
        (with(&format!("{vertex}{vertex}"), ""), "two elements `vertex`"),
        (with(&format!("{face}{vertex}"), ""), "faces without corners before them"),
        (with(&format!("{vertex}element face 1\n"), ""), "the element `face` has no corners"),
        (with("", ""), "the file has no points"),
        (with("element other 18446744073709551615\n", ""), "the file has no points"),
        (with(vertex, "1 2\n"), "line 9: the file ends after 0 of 1 rows of `vertex`"),
        (with(vertex, "1 2 three\n"), "line 8: `three` is not a number"),
        (with(vertex, "\n\n1 nan 3\n"), "line 10, field `y`: `NaN` is not a finite number"),
        (with(vertex, "1 2 1e39\n"), "line 8, field `z`: `inf`"),
        (with(&format!("{vertex}{face}"), "1 2 3\n3 0 0 1\n"), "line 11: a face with corner 1"),
        (with(&format!("{vertex}{face}"), "1 2 3\n3 0 0 -1\n"), "line 11: `-1` is not the number"),
        (with(&format!("{vertex}{face}"), "1 2 3\n3.5 0\n"), "line 11: `3.5` is not the number"),
        (with(&format!("{vertex}{face}"), "1 2 3\n2 0 0\n"), "line 11: a face of 2 corners"),
        (with(&format!("{vertex}{face}"), "1 2 3\n4294967295 0\n"), "0 of 1 rows of `face`"),
        (with(&vertex.replace('1', "18446744073709551615"), "1 2 3\n"), "after 1 of 1844674407"),
        (with(&format!("comment {}\n", "x".repeat(1 << 17)), ""), "the header does not end"),
    ] {
        let error = parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes: Vec<u8>) {
        let _ = parse(&bytes);
        let _ = parse(&[b"ply\nformat ascii 1.0\n", &bytes[..]].concat());
        for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
            let header = format!("ply\nformat {format} 1.0\n{HEADER}");
            let _ = parse(&[header.as_bytes(), &bytes].concat());
        }
    }

    #[test]
    fn changed_bytes_give_errors_or_whole_meshes(
        big: bool,
        changes in prop::collection::vec((0usize..400, any::<u8>()), 1..6),
    ) {
        let mut bytes = binary(big);
        for (place, byte) in changes {
            let place = place % bytes.len();
            bytes[place] = byte;
        }
        if let Ok(Geometry::Surface(mesh)) = parse(&bytes) {
            let corners = mesh.vertices().len() as u32;
            prop_assert!(mesh.vertices().iter().flatten().all(|value| value.is_finite()));
            prop_assert!(mesh.triangles().iter().flatten().all(|corner| *corner < corners));
        }
    }
}
