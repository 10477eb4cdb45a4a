internal import DeliveryRecording

extension TimelinePicture {
    /// Explains the shapes that occur in a picture.
    struct Legend {
        /// A shape of 22 by 12 around the origin, and its meaning.
        var entries: [(shape: String, meaning: String)] = []

        static let lineHeight = 18.0

        /// In as many lines as necessary.
        func svg(top: Double, width: Double) -> (svg: String, lines: Int) {
            var (x, line) = (16.0, 0)
            var drawn: [String] = []
            for (shape, meaning) in entries {
                let length = 28 + Double(meaning.count) * 6.8
                if x > 16, x + length > width { (x, line) = (16, line + 1) }
                let y = top + Double(line) * Self.lineHeight
                drawn.append(
                    "<g transform=\"translate(\(SVG.point(x, y)))\">\(shape)"
                        + "\(SVG.text(meaning, style: "muted", x: 28, y: 4))</g>")
                x += length + 18
            }
            return (drawn.joined(separator: "\n"), line + 1)
        }
    }

    var legend: Legend {
        var legend = Legend()
        func add(_ isThere: Bool, _ shape: String, _ meaning: String) {
            if isThere { legend.entries.append((shape, meaning)) }
        }
        func box(_ style: String) -> String {
            "<rect class=\"\(style) c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>"
        }
        func arrow(_ style: String) -> String {
            "<g class=\"arrow c0\">\(SVG.path(style, "M0 0H20"))\(SVG.path("head", "M22 0L15 3L15 -3Z"))</g>"
        }
        func post(y: Double = 0) -> String { "<circle class=\"post c0\" cx=\"11\" cy=\"\(SVG.number(y))\" r=\"4\"/>" }
        let items = timeline.items
        let (marks, handlers) = (items.filter { $0.kind == .mark }, items.filter { $0.kind == .handler })
        let stages = Set(marks.map(\.stage))
        let arrows = Set(timeline.arrows.map(\.kind))
        add(!stages.isDisjoint(with: [.post, .capture, .append]), post(), "post")
        add(marks.contains(where: \.label.isUnobserved), post() + Self.unobservedBar(x: 11, y: 0), "unobserved")
        add(marks.contains { $0.label.waiting > 0 }, post(y: -2) + Self.stub(x: 11, y: 2), "still waiting")
        add(stages.contains(.enqueue), "<circle class=\"enqueue c0\" cx=\"11\" r=\"3.5\"/>", "enqueue")
        add(!handlers.isEmpty, box("handler"), "handler")
        add(
            handlers.contains { !$0.isRun && ($0.ending == .runsOn || $0.end > timeline.end) }, box("handler open"),
            "handler that runs on")
        add(items.contains { $0.kind == .wait }, box("wait"), "wait")
        add(items.contains(where: \.isRun), box("handler run"), "several similar")
        add(arrows.contains(.delivery), arrow("way"), "to its delivery, with the latency")
        add(arrows.contains(.queued), arrow("way dashed"), "waits in a queue")
        add(stages.contains(.coalesce), Self.diamond(x: 11, y: 0), "coalesced")
        add(
            !stages.isDisjoint(with: [.cancel, .skip, .dequeue]), Self.cross(.cancel, x: 11, y: 0),
            "cancelled or removed")
        add(stages.contains(where: Self.isLoss), Self.cross(.drop, x: 11, y: 0), "lost")
        add(stages.contains(.log), SVG.path("moment", "M11 -4v8"), "log")
        add(
            !scale.stretches.isEmpty, SVG.path("stretch", "M2 0H20"), "time drawn this many times as wide")
        add(
            !scale.cuts.isEmpty, SVG.path("edge", "M8 -6l3 4l-3 4l3 4M14 -6l3 4l-3 4l3 4"),
            "this much time left out")
        return legend
    }
}
