internal import DeliveryRecording

/// A mark of a picture. The legend explains each that a picture uses.
enum PictureMark: CaseIterable {
    case post, unobserved, waiting, enqueue
    case handler, openHandler, wait, severalHandlers, several
    case delivery, queued, undelivered
    case coalesced, cancelled, lost, ended, moment
    case cut

    /// The mark of an event without a duration.
    init(_ stage: DeliveryStage) {
        self =
            switch stage {
            case .post, .capture, .append: .post
            case .enqueue: .enqueue
            case .coalesce: .coalesced
            case .dequeue, .cancel, .skip: .cancelled
            // A notification was lost, or a deadlock was prevented. Coalescing and cancelling are not losses.
            case .drop, .targetGone, .lost, .refuseWait, .dropSignal: .lost
            case .threadEnd, .processEnd, .end: .ended
            default: .moment
            }
    }

    var meaning: String {
        switch self {
        case .post: "post"
        case .unobserved: "unobserved"
        case .waiting: "still waiting"
        case .enqueue: "enqueue"
        case .handler: "handler"
        case .openHandler: "handler that runs on"
        case .wait: "wait"
        case .severalHandlers: "several handlers"
        case .several: "several similar"
        case .delivery: "to its delivery, with the latency"
        case .queued: "waits in a queue"
        case .undelivered: "not delivered"
        case .coalesced: "coalesced"
        case .cancelled: "cancelled or removed"
        case .lost: "lost"
        case .ended: "end of a thread or process"
        case .moment: "other event"
        case .cut: "this much time left out"
        }
    }

    /// Draws the mark in a lane's color, `c0` or another.
    func drawn(_ color: String, x: Double, y: Double) -> String {
        switch self {
        case .post: SVG.circle("post \(color)", x: x, y: y, radius: 4)
        case .unobserved: SVG.path("nobody", "M\(SVG.point(x - 5, y + 5))l10 -10")
        case .waiting: SVG.path("waits", "M\(SVG.point(x, y))v5m-4 0h8")
        case .enqueue: SVG.circle("enqueue \(color)", x: x, y: y, radius: 3.5)
        case .coalesced: SVG.path("merged", "M\(SVG.point(x - 4, y))l4 -4l4 4l-4 4z")
        case .cancelled: SVG.path("ended cross", "M\(SVG.point(x - 3.5, y - 3.5))l7 7m0 -7l-7 7")
        case .lost: SVG.path("bad cross", "M\(SVG.point(x - 3.5, y - 3.5))l7 7m0 -7l-7 7")
        case .ended: SVG.path("stroke \(color)", "M\(SVG.point(x, y - 6))v12")
        case .moment: SVG.path("moment", "M\(SVG.point(x, y - 4))v8")
        case .delivery, .queued, .undelivered: arrow(color, from: (x - 11, y), to: (x + 11, y))
        case .cut: SVG.path("edge", "M\(SVG.point(x - 3, y - 6))l3 4l-3 4l3 4m3 -12l3 4l-3 4l3 4")
        case .handler, .openHandler, .wait, .severalHandlers, .several:
            box(color, SVG.Box(left: x - 11, top: y - 6, right: x + 11, bottom: y + 6))
        }
    }

    /// A box over its background, so that no line strikes through its label.
    func box(_ color: String, _ box: SVG.Box, tip: String = "") -> String {
        let style =
            switch self {
            case .openHandler: "handler open"
            case .wait: "wait"
            case .severalHandlers: "handler run"
            case .several: "marks run"
            default: "handler"
            }
        return SVG.rect("under", box) + SVG.rect("\(style) \(color)", box, content: tip)
    }

    /// - Parameter curve: the control points of a curve; nil for a straight line.
    func arrow(
        _ color: String, from: (x: Double, y: Double), to: (x: Double, y: Double), curve: String? = nil,
        tip: String = ""
    ) -> String {
        let way = "M\(SVG.point(from.x, from.y))\(curve ?? "L")\(SVG.point(to.x, to.y))"
        let style = self == .delivery ? "way" : "way dashed"
        return "<g class=\"arrow \(self == .undelivered ? "ended" : color)\">\(tip)\(SVG.path(style, way))"
            + (self == .undelivered ? "" : Self.head(at: to, from: curve == nil ? from : (to.x - 0.3, to.y - 1)))
            + "</g>"
    }

    private static func head(at end: (x: Double, y: Double), from: (x: Double, y: Double)) -> String {
        let (width, height) = (end.x - from.x, end.y - from.y)
        let length = max(0.001, (width * width + height * height).squareRoot())
        let (dx, dy) = (width / length, height / length)
        let (x, y) = (end.x - dx * 7, end.y - dy * 7)
        let (one, other) = (SVG.point(x - dy * 3, y + dx * 3), SVG.point(x + dy * 3, y - dx * 3))
        return SVG.path("head", "M\(SVG.point(end.x, end.y))L\(one)L\(other)Z")
    }

    /// The legend of the marks that are used, in as many lines as necessary with this total height.
    static func legend(_ used: Set<PictureMark>, top: Double, width: Double) -> (svg: [String], height: Double) {
        let lineHeight = 18.0
        var (x, y) = (16.0, top)
        let drawn = allCases.filter(used.contains).map { mark in
            let length = 28 + Double(mark.meaning.count) * 6.8
            if x > 16, x + length > width - 24 { (x, y) = (16, y + lineHeight) }
            defer { x += length + 18 }
            // The bar and the stub are parts of a post.
            let post = mark == .unobserved || mark == .waiting ? PictureMark.post.drawn("c0", x: 11, y: 0) : ""
            return "<g transform=\"translate(\(SVG.point(x, y)))\">\(post)"
                + mark.drawn("c0", x: 11, y: mark == .waiting ? 4 : 0)
                + SVG.text(mark.meaning, style: "muted", x: 28, y: 4) + "</g>"
        }
        return (drawn, y - top + lineHeight)
    }
}
