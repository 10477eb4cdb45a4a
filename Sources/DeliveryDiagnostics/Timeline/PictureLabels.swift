internal import TerminalText

/// Places the labels of a picture where they do not touch each other or anything else.
struct PictureLabels {
    private static let column = 64.0
    /// Searching a column with more boxes takes too long, and it has hardly any free space.
    private static let maximumPerColumn = 400

    private let bounds: SVG.Box
    /// Occupied boxes by column of the picture.
    private var boxes: [Int: [SVG.Box]] = [:]

    init(bounds: SVG.Box) { self.bounds = bounds }

    static func width(_ text: String, style: String = "label") -> Double {
        // The approximate width of a character.
        Double(DisplayWidth.of(text)) * (style.hasPrefix("latency") ? 7.2 : 6.6)
    }

    mutating func occupy(_ box: SVG.Box) { for column in columns(of: box) { boxes[column, default: []].append(box) } }

    mutating func occupyIfFree(_ box: SVG.Box) -> Bool {
        guard box.left >= bounds.left, box.right <= bounds.right, box.top >= bounds.top, box.bottom <= bounds.bottom
        else { return false }
        let isFree = columns(of: box).allSatisfy { column in
            let boxes = boxes[column, default: []]
            return boxes.count < Self.maximumPerColumn
                && boxes.allSatisfy {
                    $0.left >= box.right || box.left >= $0.right || $0.top >= box.bottom || box.top >= $0.bottom
                }
        }
        if isFree { occupy(box) }
        return isFree
    }

    private func columns(of box: SVG.Box) -> ClosedRange<Int> {
        func column(_ x: Double) -> Int { Int(max(bounds.left, min(x, bounds.right)) / Self.column) }
        return column(box.left)...max(column(box.left), column(box.right))
    }

    /// Draws the first text that is free at one of its positions, the beginnings of its baseline.
    ///
    /// - Returns: the index of the text and its drawing; nil if there is no space.
    mutating func place(
        _ texts: [String], style: String = "label", margin: Double = 4,
        at positions: (_ width: Double) -> [(x: Double, y: Double)]
    ) -> (text: Int, drawn: String)? {
        for (number, text) in texts.enumerated() {
            let width = Self.width(text, style: style)
            for (x, y) in positions(width) {
                let (top, bottom) = (y - 8 - margin / 4, y + 1 + margin / 4)
                guard occupyIfFree(.init(left: x - margin, top: top, right: x + width + margin, bottom: bottom)) else {
                    continue
                }
                // Lines must not strike through the label.
                let behind = SVG.Box(left: x - 1, top: y - 9, right: x + width + 1, bottom: y + 3)
                return (number, SVG.rect("behind", behind) + SVG.text(text, style: style, x: x, y: y))
            }
        }
        return nil
    }
}
