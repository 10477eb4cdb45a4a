enum PictureStyle {
    /// The number of lane colors, which are used in turn.
    static let colors = 8

    /// Colors come last: first those for a light background, then those for a dark one. Not all SVG viewers support
    /// variables.
    static let css: String = {
        let shapes = """
            text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}\
            .heading{font-size:14px;font-weight:600}.lane{font-weight:600}.end{text-anchor:end}\
            path{fill:none}.life{opacity:.55}.way{stroke-width:1.4;opacity:.8}.dashed{stroke-dasharray:4 3}\
            .open{stroke-dasharray:5 3}.run{stroke-dasharray:2 1.5}.wait{stroke-dasharray:2 3}\
            .enqueue,.cross,.nobody,.waits,.merged{stroke-width:1.6}.stroke{stroke-width:2}
            """
        let light = colored(
            ground: "#ffffff", ink: "#1f2328", muted: "#59636e", faint: "#d9dee4", bad: "#cf222e",
            lanes: ["0969da", "9a6700", "8250df", "1a7f37", "bf3989", "0e7490", "bc4c00", "57606a"],
            boxes: ["c2dafa", "e6d9bf", "e0d4f7", "c6dfcd", "efcee2", "c3dce4", "eed2bf", "d5d7da"])
        let dark = colored(
            ground: "#0d1117", ink: "#e6edf3", muted: "#9198a1", faint: "#2b323b", bad: "#ff7b72",
            lanes: ["58a6ff", "d29922", "bc8cff", "3fb950", "f778ba", "39c5cf", "ff9b5e", "a5b0bb"],
            boxes: ["203651", "3e331a", "392f51", "193b25", "47293f", "183e45", "49331f", "333840"])
        return "\(shapes)\(light)@media (prefers-color-scheme:dark){\(dark)}"
    }()

    private static func colored(
        ground: String, ink: String, muted: String, faint: String, bad: String, lanes: [String], boxes: [String]
    ) -> String {
        let lanes = zip(lanes, boxes).enumerated().map { index, color in
            """
            path.c\(index){stroke:#\(color.0)}.post.c\(index),.head.c\(index),text.c\(index){fill:#\(color.0)}\
            .box.c\(index){fill:#\(color.1)}
            """
        }
        return """
            .ground{fill:\(ground);stroke:\(faint)}text{fill:\(ink)}.muted{fill:\(muted)}.grid{stroke:\(faint)}\
            \(lanes.joined())path.wait,path.enqueue,path.merged{fill:\(ground)}path.box.wait{fill:\(ground)}\
            path.moment,path.ended,path.merged{stroke:\(muted)}path.bad,path.nobody,path.waits{stroke:\(bad)}
            """
    }
}
