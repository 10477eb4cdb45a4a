internal import DeliveryRecording

extension TimelinePicture {
    /// Explains the shapes that occur, in as many lines as necessary with this total height.
    func legend(top: Double) -> (svg: String, height: Double) {
        /// A shape of 22 by 12 around the origin, and its meaning.
        var entries: [(shape: String, meaning: String)] = []
        let items = timeline.items
        let (marks, handlers) = (items.filter(\.isMark), items.filter { $0.stage == .deliver })
        let stages = Set(marks.map(\.stage))
        let arrows = Set(timeline.arrows.map(\.kind))
        func add(_ occurs: Bool, _ shape: String, _ meaning: String) {
            if occurs { entries.append((shape, meaning)) }
        }
        func post(y: Double = 0) -> String { SVG.circle("post c0", x: 11, y: y, radius: 4) }
        func box(_ style: String) -> String {
            "<rect class=\"\(style) c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>"
        }
        func arrow(_ style: String) -> String {
            "<g class=\"arrow c0\">\(SVG.path(style, "M0 0H20"))\(SVG.path("head", "M22 0L15 3L15 -3Z"))</g>"
        }
        add(!stages.isDisjoint(with: [.post, .capture, .append]), post(), "post")
        add(marks.contains(where: timeline.isUnobserved), post() + Self.unobservedBar(x: 11, y: 0), "unobserved")
        add(marks.contains { $0.waiting > 0 }, post(y: -2) + Self.stub(x: 11, y: 2), "still waiting")
        add(stages.contains(.enqueue), SVG.circle("enqueue c0", x: 11, y: 0, radius: 3.5), "enqueue")
        add(!handlers.isEmpty, box("handler"), "handler")
        add(handlers.contains { Self.runsOn($0, in: timeline) }, box("handler open"), "handler that runs on")
        add(items.contains { $0.stage == .wait }, box("wait"), "wait")
        add(items.contains(where: \.isRun), box("handler run"), "several similar")
        add(arrows.contains(.delivery), arrow("way"), "to its delivery, with the latency")
        add(arrows.contains(.queued), arrow("way dashed"), "waits in a queue")
        add(stages.contains(.coalesce), Self.diamond(x: 11, y: 0), "coalesced")
        let isCancelled = !stages.isDisjoint(with: [.cancel, .skip, .dequeue])
        add(isCancelled, Self.cross(.cancel, x: 11, y: 0), "cancelled or removed")
        add(stages.contains(where: Self.isLoss), Self.cross(.drop, x: 11, y: 0), "lost")
        add(stages.contains(.log), SVG.path("moment", "M11 -4v8"), "log")
        add(!scale.stretches.isEmpty, SVG.path("stretch", "M2 0H20"), "time drawn this many times as wide")
        let edges = SVG.path("edge", "M8 -6l3 4l-3 4l3 4M14 -6l3 4l-3 4l3 4")
        add(!scale.cuts.isEmpty, edges, "this much time left out")
        let lineHeight = 18.0
        var (x, y) = (16.0, top)
        let drawn = entries.map { shape, meaning in
            let length = 28 + Double(meaning.count) * 6.8
            if x > 16, x + length > Self.width - 24 { (x, y) = (16, y + lineHeight) }
            defer { x += length + 18 }
            let text = SVG.text(meaning, style: "muted", x: 28, y: 4)
            return "<g transform=\"translate(\(SVG.point(x, y)))\">\(shape)\(text)</g>"
        }
        return (drawn.joined(separator: "\n"), y - top + lineHeight)
    }
}
