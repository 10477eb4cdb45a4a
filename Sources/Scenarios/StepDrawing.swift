internal import DeliveryDiagnostics
internal import TerminalText

/// Draws the lifetime of pending things: a row for each kind, and a column for each step, in order.
///
///     callout  [=======]
///     now          o-*
///     asap       o-------*
///
/// `o` is handed over, `-` waits, `*` happens, `[===]` lasts. Each row is first in, first out.
struct StepDrawing {
    enum Mark: Character {
        case isHandedOver = "o"
        case happens = "*"
        case begins = "["
        case ends = "]"
    }

    typealias Step = (row: String?, mark: Mark)

    private static let width = 2

    /// From top to bottom.
    var rows: [String]
    /// From left to right.
    var steps: [Step]

    /// The drawing and its legend.
    var text: String {
        Table.text(rows.map { [$0, drawing(of: $0)] })
            + "\no is handed over, - waits, * happens, [==] lasts"
    }

    private func drawing(of row: String) -> String {
        var (waiting, lasts) = (0, false)
        var line = ""
        for step in steps {
            if step.row == row {
                line.append(step.mark.rawValue)
                switch step.mark {
                case .isHandedOver: waiting += 1
                case .happens: waiting = max(0, waiting - 1)
                case .begins: (waiting, lasts) = (max(0, waiting - 1), true)
                case .ends: lasts = false
                }
            }
            let filling: Character = lasts ? "=" : waiting > 0 ? "-" : " "
            line += String(repeating: filling, count: step.row == row ? Self.width - 1 : Self.width)
        }
        return line
    }
}
