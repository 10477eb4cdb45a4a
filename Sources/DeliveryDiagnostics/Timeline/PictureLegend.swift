internal import DeliveryRecording

/// Explains the shapes that occur in a picture.
struct PictureLegend {
    private typealias Picture = TimelinePicture

    /// A shape of 22 by 12 around the origin, and its meaning.
    private var entries: [(shape: String, meaning: String)] = []

    private static let lineHeight = 18.0

    init(of timeline: Timeline, _ scale: TimelineScale) {
        let items = timeline.items
        let (marks, handlers) = (items.filter { $0.kind == .mark }, items.filter { $0.kind == .handler })
        let stages = Set(marks.map(\.stage))
        let arrows = Set(timeline.arrows.map(\.kind))
        func post(y: Double = 0) -> String { SVG.circle("post c0", x: 11, y: y, radius: 4) }
        func box(_ style: String) -> String {
            "<rect class=\"\(style) c0\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\" rx=\"2\"/>"
        }
        func arrow(_ style: String) -> String {
            "<g class=\"arrow c0\">\(SVG.path(style, "M0 0H20"))\(SVG.path("head", "M22 0L15 3L15 -3Z"))</g>"
        }
        add(!stages.isDisjoint(with: [.post, .capture, .append]), post(), "post")
        add(marks.contains(where: timeline.isUnobserved), post() + Picture.unobservedBar(x: 11, y: 0), "unobserved")
        add(marks.contains { $0.waiting > 0 }, post(y: -2) + Picture.stub(x: 11, y: 2), "still waiting")
        add(stages.contains(.enqueue), SVG.circle("enqueue c0", x: 11, y: 0, radius: 3.5), "enqueue")
        add(!handlers.isEmpty, box("handler"), "handler")
        add(handlers.contains { Picture.runsOn($0, in: timeline) }, box("handler open"), "handler that runs on")
        add(items.contains { $0.kind == .wait }, box("wait"), "wait")
        add(items.contains(where: \.isRun), box("handler run"), "several similar")
        add(arrows.contains(.delivery), arrow("way"), "to its delivery, with the latency")
        add(arrows.contains(.queued), arrow("way dashed"), "waits in a queue")
        add(stages.contains(.coalesce), Picture.diamond(x: 11, y: 0), "coalesced")
        let isCancelled = !stages.isDisjoint(with: [.cancel, .skip, .dequeue])
        add(isCancelled, Picture.cross(.cancel, x: 11, y: 0), "cancelled or removed")
        add(stages.contains(where: Picture.isLoss), Picture.cross(.drop, x: 11, y: 0), "lost")
        add(stages.contains(.log), SVG.path("moment", "M11 -4v8"), "log")
        add(!scale.stretches.isEmpty, SVG.path("stretch", "M2 0H20"), "time drawn this many times as wide")
        let edges = SVG.path("edge", "M8 -6l3 4l-3 4l3 4M14 -6l3 4l-3 4l3 4")
        add(!scale.cuts.isEmpty, edges, "this much time left out")
    }

    private mutating func add(_ occurs: Bool, _ shape: String, _ meaning: String) {
        if occurs { entries.append((shape, meaning)) }
    }

    /// In as many lines as necessary, with the total height of the lines.
    func svg(top: Double, width: Double) -> (svg: String, height: Double) {
        var (x, y) = (16.0, top)
        var drawn: [String] = []
        for (shape, meaning) in entries {
            let length = 28 + Double(meaning.count) * 6.8
            if x > 16, x + length > width { (x, y) = (16, y + Self.lineHeight) }
            let text = SVG.text(meaning, style: "muted", x: 28, y: 4)
            drawn.append("<g transform=\"translate(\(SVG.point(x, y)))\">\(shape)\(text)</g>")
            x += length + 18
        }
        return (drawn.joined(separator: "\n"), y - top + Self.lineHeight)
    }
}
