internal import DeliveryRecording

/// The characters that a text timeline is drawn with.
package struct TimelineSymbols: Sendable, Hashable {
    var lane: Character
    var handler: Character
    var handlerBegins: Character
    var handlerEnds: Character
    var handlerLasts: Character
    var wait: Character
    var waitBegins: Character
    var waitEnds: Character
    var laneEnds: Character
    var later: Character
    var line: Character
    var crossing: Character
    var handlerCrossing: Character
    var leftHead: Character
    var rightHead: Character
    var leavesRight: Character
    var leavesLeft: Character
    var handlerLeavesRight: Character
    var handlerLeavesLeft: Character
    var lostLine: Character
    var post: Character
    var enqueue: Character
    var lost: Character
    var problem: Character
    var other: Character
    var ellipsis: String
    /// True if all other characters must be ASCII too.
    var isASCII: Bool

    package static let unicode = TimelineSymbols(
        lane: "│", handler: "┃", handlerBegins: "┏", handlerEnds: "┗", handlerLasts: "■", wait: "┊", waitBegins: "┬",
        waitEnds: "┴", laneEnds: "┴", later: "┆", line: "─", crossing: "┼", handlerCrossing: "╂", leftHead: "◀",
        rightHead: "▶", leavesRight: "├", leavesLeft: "┤", handlerLeavesRight: "┠", handlerLeavesLeft: "┨",
        lostLine: "╌",
        post: "●", enqueue: "○", lost: "×", problem: "!", other: "·", ellipsis: "…", isASCII: false)

    package static let ascii = TimelineSymbols(
        lane: "|", handler: "#", handlerBegins: "#", handlerEnds: "#", handlerLasts: "#", wait: ":", waitBegins: ":",
        waitEnds: ":", laneEnds: "=", later: ".", line: "-", crossing: "+", handlerCrossing: "#", leftHead: "<",
        rightHead: ">", leavesRight: "|", leavesLeft: "|", handlerLeavesRight: "#", handlerLeavesLeft: "#",
        lostLine: "~",
        post: "o", enqueue: "O", lost: "x", problem: "!", other: "*", ellipsis: "...", isASCII: true)

    func mark(of stage: DeliveryStage) -> Character {
        switch stage {
        case .post, .capture, .append: post
        case .enqueue: enqueue
        case .dequeue, .coalesce, .drop, .cancel, .targetGone, .skip: lost
        case .refuseWait, .lost, .dropSignal: problem
        case .threadEnd, .processEnd, .end: laneEnds
        case .register: "+"
        case .remove: "-"
        case .signal, .drain, .deliver, .return, .wait, .waitEnd, .count, .log, .processStart, .fork: other
        }
    }

    /// Makes foreign text safe to print.
    func text(_ text: String) -> String {
        let excerpt = Excerpt.of(text, length: 400)
        guard isASCII, !excerpt.utf8.allSatisfy({ $0 < 0x80 }) else { return excerpt }
        var shown = ""
        for scalar in excerpt.unicodeScalars {
            switch scalar {
            case "…": shown += ellipsis
            case "µ": shown += "u"
            case "×": shown += "x"
            case "≤": shown += "<="
            default: shown += scalar.isASCII ? String(scalar) : scalar.escaped(asASCII: true)
            }
        }
        return shown
    }
}
