extension TimelinePicture {
    /// What the shapes of a picture mean, as far as they are in it.
    struct Legend {
        /// A shape of the size of 22 by 12 around 0 0, and what it means.
        var entries: [(shape: String, meaning: String)] = []

        func svg(top: Double) -> String {
            var x = 16.0
            var drawn: [String] = []
            for (shape, meaning) in entries {
                drawn.append(
                    "<g transform=\"translate(\(SVGText.number(x)) \(SVGText.number(top)))\">\(shape)"
                        + "<text class=\"muted\" x=\"28\" y=\"4\">\(XMLText.escaped(meaning))</text></g>")
                x += 28 + Double(meaning.count) * 6.1 + 18
            }
            return drawn.joined(separator: "\n")
        }
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
        add(stages.contains(.enqueue), "<circle class=\"enqueue c0\" cx=\"11\" r=\"3.5\"/>", "enqueue")
        add(
            timeline.slices.contains { $0.kind == .handler },
            "<rect class=\"handler c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>", "handler")
        add(
            timeline.slices.contains { $0.kind == .wait },
            "<rect class=\"wait c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>", "wait")
        add(
            !timeline.runs.isEmpty,
            "<rect class=\"handler run c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>", "several alike")
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
