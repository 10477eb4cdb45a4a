internal import DeliveryRecording

/// The mark of an item or an arrow: its character in a text, its shape in a picture, and its meaning, which the
/// legend of a picture explains if the picture uses it.
enum TimelineMark: CaseIterable {
    case post, unobserved, waiting, enqueue
    case handler, openHandler, wait, several
    case delivery, queued, undelivered
    case coalesced, cancelled, lost, ended, register, remove, other

    /// The mark of an event, and of a handler or wait in one row of text.
    init(_ stage: DeliveryStage) {
        self =
            switch stage {
            case .post, .capture, .append: .post
            case .enqueue: .enqueue
            case .deliver: .handler
            case .wait: .wait
            case .coalesce: .coalesced
            case .dequeue, .cancel, .skip: .cancelled
            // Also if records were lost, or a deadlock was prevented.
            case .drop, .targetGone, .lost, .refuseWait: .lost
            case .threadEnd, .processEnd, .end: .ended
            case .register: .register
            case .remove: .remove
            default: .other
            }
    }

    /// The style in a picture, and the path from the middle of the mark.
    private var look: (character: Character, meaning: String, style: String, path: String) {
        let box = "m-4.5 -6h9v12h-9z"
        let cross = "m-3.5 -3.5l7 7m0 -7l-7 7"
        return switch self {
        case .post: ("●", "post", "post", "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z")
        case .unobserved: ("●", "unobserved", "nobody", "m-5 5l10 -10")
        case .waiting: ("●", "still waiting", "waits", "m0 4v5m-4 0h8")
        case .enqueue: ("○", "enqueue", "enqueue", "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z")
        case .handler: ("■", "handler", "box", box)
        case .openHandler: ("■", "handler that runs on", "box open", box)
        case .wait: ("┊", "wait", "box wait", box)
        case .several: ("■", "several similar", "box run", box)
        case .delivery: ("─", "to its delivery, with the latency", "way", "m-11 0h16")
        case .queued: ("─", "waits in a queue", "way dashed", "m-11 0h16")
        case .undelivered: ("╌", "not delivered", "way ended dashed", "m-11 0h22")
        case .coalesced: ("×", "coalesced", "merged", "m-4 0l4 -4l4 4l-4 4z")
        case .cancelled: ("×", "cancelled or removed", "ended cross", cross)
        case .lost: ("×", "lost", "bad cross", cross)
        case .ended: ("┴", "end of a thread or process", "stroke", "m-6 0h12")
        case .register: ("+", "other event", "moment", "m-4 0h8")
        case .remove: ("-", "other event", "moment", "m-4 0h8")
        case .other: ("·", "other event", "moment", "m-4 0h8")
        }
    }

    var character: Character { look.character }
    var meaning: String { look.meaning }

    /// Draws the mark around a point, in a lane's color, `c0` or another.
    ///
    /// - Parameter path: the path from the point if it has its own length, as a box or an arrow.
    func drawn(_ color: String, x: Double, y: Double, path: String? = nil) -> String {
        SVG.path("\(look.style) \(color)", "M\(SVG.point(x, y))\(path ?? look.path)")
    }

    /// The head of an arrow that comes from another point.
    static func head(_ color: String, at end: (x: Double, y: Double), from: (x: Double, y: Double)) -> String {
        let (width, height) = (end.x - from.x, end.y - from.y)
        let length = max(0.001, (width * width + height * height).squareRoot())
        let (dx, dy) = (width / length, height / length)
        let (one, other) = (SVG.point(-dx * 7 - dy * 3, dx * 3 - dy * 7), SVG.point(dy * 6, -dx * 6))
        return SVG.path("head \(color)", "M\(SVG.point(end.x, end.y))l\(one)l\(other)z")
    }

    /// The legend of the marks that are used, in as many lines as necessary with this total height.
    static func legend(_ used: Set<TimelineMark>, top: Double, width: Double) -> (svg: [String], height: Double) {
        var (x, y, meanings) = (16.0, top, Set<String>())
        let drawn = allCases.filter { used.contains($0) && meanings.insert($0.meaning).inserted }.map { mark in
            let length = 28 + Double(mark.meaning.count) * 6.8
            if x > 16, x + length > width - 24 { (x, y) = (16, y + 18) }
            defer { x += length + 18 }
            // The bar and the stub are parts of a post.
            let post = mark == .unobserved || mark == .waiting ? TimelineMark.post.drawn("c0", x: x + 11, y: y) : ""
            let isArrow = mark == .delivery || mark == .queued
            return post + mark.drawn("c0", x: x + 11, y: y)
                + (isArrow ? head("c0", at: (x + 22, y), from: (x, y)) : "")
                + SVG.text(mark.meaning, style: "muted", x: x + 28, y: y + 4)
        }
        return (drawn, y - top + 18)
    }
}
