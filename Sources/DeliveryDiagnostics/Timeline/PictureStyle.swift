enum PictureStyle {
    /// The number of lane colors, which are used in turn.
    static let colors = 8

    /// Colors come last: first those for a light background, then those for a dark one. Not all SVG viewers support
    /// variables.
    static let css: String = {
        let shapes = """
            text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}\
            .heading{font-size:14px;font-weight:600}.lane{font-weight:600;stroke:none}\
            .middle{text-anchor:middle}.label,.latency,.inside,.cut{font-size:11px}\
            .latency{font-weight:600;stroke:none}.behind{fill-opacity:.85}\
            path{fill:none}.life{stroke-width:1;opacity:.55}.way{stroke-width:1.4;opacity:.8}\
            .dashed{stroke-dasharray:4 3}\
            .head{stroke:none}.handler{stroke-width:1;fill-opacity:.25}.run{stroke-width:1;stroke-dasharray:2 1.5}\
            .marks{fill-opacity:.1}.open{stroke-dasharray:5 3}.wait{fill-opacity:0;stroke-dasharray:2 3}\
            .enqueue{stroke-width:1.6}.stroke{stroke-width:2}.cross,.nobody,.waits,.merged{stroke-width:1.6}\
            .waiting{font-size:11px;stroke:none}
            """
        let light = colored(
            ground: "#ffffff", ink: "#1f2328", muted: "#59636e", faint: "#d9dee4", bad: "#cf222e",
            lanes: ["#0969da", "#9a6700", "#8250df", "#1a7f37", "#bf3989", "#0e7490", "#bc4c00", "#57606a"])
        let dark = colored(
            ground: "#0d1117", ink: "#e6edf3", muted: "#9198a1", faint: "#2b323b", bad: "#ff7b72",
            lanes: ["#58a6ff", "#d29922", "#bc8cff", "#3fb950", "#f778ba", "#39c5cf", "#ff9b5e", "#a5b0bb"])
        return "\(shapes)\(light)@media (prefers-color-scheme:dark){\(dark)}"
    }()

    private static func colored(
        ground: String, ink: String, muted: String, faint: String, bad: String, lanes: [String]
    ) -> String {
        let lanes = lanes.enumerated().map { index, color in
            """
            .c\(index),.c\(index) .head{fill:\(color)}.c\(index),.c\(index) .way,.c\(index) .life{stroke:\(color)}\
            .latency.c\(index){stroke:none}.enqueue.c\(index){fill:\(ground)}
            """
        }
        return """
            .ground{fill:\(ground);stroke:\(faint)}text{fill:\(ink)}.muted,.cut{fill:\(muted)}\
            .behind,.under{fill:\(ground)}.grid{stroke:\(faint)}\
            .edge,.moment,.ended,.ended .way,.merged{stroke:\(muted)}.merged{fill:\(ground)}\
            .tear{fill:\(ground)}\
            \(lanes.joined()).bad,.bad .way,.nobody,.waits{stroke:\(bad)}.waiting{fill:\(bad)}\
            .lane{stroke:none}
            """
    }
}
