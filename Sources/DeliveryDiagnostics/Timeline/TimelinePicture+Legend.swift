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
                let length = 28 + Double(meaning.count) * 6.4
                if x > 16, x + length > width { (x, line) = (16, line + 1) }
                let y = top + Double(line) * Self.lineHeight
                drawn.append(
                    "<g transform=\"translate(\(SVGText.number(x)) \(SVGText.number(y)))\">\(shape)"
                        + "<text class=\"muted\" x=\"28\" y=\"4\">\(XMLText.escaped(meaning))</text></g>")
                x += length + 18
            }
            return (drawn.joined(separator: "\n"), line + 1)
        }
    }

    /// The bar of a post without observers.
    static func unobservedBar(x: Double, y: Double) -> String {
        "<path class=\"nobody\" d=\"M\(SVGText.number(x - 5)) \(SVGText.number(y + 5))l10 -10\"/>"
    }

    /// The stub below a post with deliveries that are still waiting.
    static func stub(x: Double, y: Double) -> String {
        "<path class=\"waits\" d=\"M\(SVGText.number(x)) \(SVGText.number(y))v5m-4 0h8\"/>"
    }

    static func legend(of timeline: Timeline, hasCuts: Bool) -> Legend {
        var legend = Legend()
        func add(_ isThere: Bool, _ shape: String, _ meaning: String) {
            if isThere { legend.entries.append((shape, meaning)) }
        }
        let stages = Set(timeline.marks.map(\.stage))
        let arrows = Set(timeline.arrows.map(\.kind))
        add(
            !stages.isDisjoint(with: [.post, .capture, .append]) || !timeline.runs.isEmpty,
            "<circle class=\"post c0\" cx=\"11\" r=\"4\"/>", "post")
        let labels = timeline.marks.map(\.label) + timeline.runs.map(\.label)
        add(
            timeline.marks.contains(where: \.label.isUnobserved),
            "<circle class=\"post c0\" cx=\"11\" r=\"4\"/>\(unobservedBar(x: 11, y: 0))", "unobserved")
        add(
            labels.contains { $0.waiting > 0 },
            "<circle class=\"post c0\" cx=\"11\" cy=\"-2\" r=\"4\"/>\(stub(x: 11, y: 2))", "still waiting")
        add(stages.contains(.enqueue), "<circle class=\"enqueue c0\" cx=\"11\" r=\"3.5\"/>", "enqueue")
        add(
            timeline.slices.contains { $0.kind == .handler },
            "<rect class=\"handler c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>", "handler")
        add(
            timeline.slices.contains { $0.kind == .handler && ($0.ending == .runsOn || $0.end > timeline.end) },
            "<rect class=\"handler open c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>",
            "handler that runs on")
        add(
            timeline.slices.contains { $0.kind == .wait },
            "<rect class=\"wait c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>", "wait")
        add(
            !timeline.runs.isEmpty,
            "<rect class=\"handler run c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>", "several similar")
        add(
            arrows.contains(.delivery),
            "<g class=\"arrow c0\"><path class=\"way\" d=\"M0 0H20\"/><path class=\"head\" d=\"M22 0L15 3L15 -3Z\"/></g>",
            "to its delivery, with the latency")
        add(
            arrows.contains(.queued),
            "<g class=\"arrow c0\"><path class=\"way dashed\" d=\"M0 0H20\"/>"
                + "<path class=\"head\" d=\"M22 0L15 3L15 -3Z\"/></g>", "waits in a queue")
        add(
            !stages.isDisjoint(with: [.coalesce, .drop, .cancel, .targetGone, .skip, .dequeue]),
            "<path class=\"lost\" d=\"M7.5 -3.5l7 7m0 -7l-7 7\"/>", "not delivered")
        add(stages.contains(.log), "<path class=\"moment\" d=\"M11 -4v8\"/>", "log")
        add(hasCuts, "<path class=\"edge\" d=\"M8 -6l3 4l-3 4l3 4M14 -6l3 4l-3 4l3 4\"/>", "time left out")
        return legend
    }
}
