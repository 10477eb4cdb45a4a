internal import DeliveryRecording
internal import TerminalText

/// A character that a text timeline is drawn with.
enum TimelineSymbol: Int {
    case lane, laneEnds, later, line, lostLine, crossing, leftHead, rightHead, leavesRight, leavesLeft
    case handler, handlerBegins, handlerEnds, handlerLasts, handlerCrossing, handlerLeavesRight, handlerLeavesLeft
    case wait, waitBegins, waitEnds
    case post, enqueue, lost, problem, register, remove, other

    static func mark(of stage: DeliveryStage) -> TimelineSymbol {
        switch stage {
        case .post, .capture, .append: .post
        case .enqueue: .enqueue
        case .dequeue, .coalesce, .drop, .cancel, .targetGone, .skip: .lost
        case .refuseWait, .lost, .dropSignal: .problem
        case .threadEnd, .processEnd, .end: .laneEnds
        case .register: .register
        case .remove: .remove
        case .deliver: .handlerLasts
        case .wait: .wait
        default: .other
        }
    }
}

package struct TimelineSymbols: Sendable {
    /// In the order of `TimelineSymbol`.
    private let characters: [Character]
    let ellipsis: String
    let isASCII: Bool

    package static let unicode = TimelineSymbols(
        characters: Array("│┴┆─╌┼◀▶├┤┃┏┗■╂┠┨┊┬┴●○×!+-·"), ellipsis: "…", isASCII: false)
    package static let ascii = TimelineSymbols(
        characters: Array("|=.-~+<>||#######:::oOx!+-*"), ellipsis: "...", isASCII: true)

    subscript(symbol: TimelineSymbol) -> Character { characters[symbol.rawValue] }

    /// Makes foreign text safe to print.
    func text(_ text: String) -> String {
        let excerpt = Excerpt.of(text, length: 400)
        guard isASCII, !excerpt.utf8.allSatisfy({ $0 < 0x80 }) else { return excerpt }
        let replacements: [Unicode.Scalar: String] = ["…": ellipsis, "µ": "u", "×": "x", "≤": "<="]
        return excerpt.unicodeScalars.map { scalar in
            replacements[scalar] ?? (scalar.isASCII ? String(scalar) : scalar.escaped(asASCII: true))
        }.joined()
    }
}
