internal import DeliveryRecording

/// Places the labels of a picture where they do not touch each other or anything else.
struct PictureLabels {
    /// A possible text and position of a label: the beginning of its baseline.
    struct Candidate {
        var text: String
        var x: Double
        var y: Double
        /// The mark that the label belongs to, if a line must show it.
        var leader: (x: Double, y: Double)?
    }

    /// A label and its candidates, the best first.
    struct Pending {
        /// Labels of low rank are placed first.
        var rank: Int
        var style = "label"
        var lane: Int
        var candidates: [Candidate]
        /// The number of candidates that say enough: with none of them the lane needs another row of labels. Nil if
        /// another row would not help, or is not worth it.
        var sufficient: Int?
        var margin = 4.0
        /// False if the tooltip is the place for it when space is scarce.
        var isCounted = true
    }

    private static let column = 64.0
    /// Searching a column with more boxes takes too long, and it has hardly any free space.
    private static let maximumPerColumn = 400

    private let bounds: SVG.Box
    /// Occupied boxes by column of the picture.
    private var boxes: [Int: [SVG.Box]] = [:]
    private var pending: [Pending] = []
    /// The lanes with labels that are missing or say too little.
    private(set) var crowdedLanes: Set<Int> = []
    /// The number of labels that have no space.
    private(set) var missing = 0

    init(bounds: SVG.Box) {
        self.bounds = bounds
    }

    static func width(_ text: String, style: String = "label") -> Double {
        // The approximate width of a character.
        Double(DisplayWidth.of(text)) * (style.hasPrefix("latency") ? 7.2 : 6.6)
    }

    /// Long texts keep their beginning and end.
    static func short(_ text: String, to width: Int = 36) -> String {
        DisplayWidth.fitMiddle(Excerpt.of(text, length: 200), to: width, ellipsis: "…")
    }

    mutating func occupy(_ box: SVG.Box) {
        for column in columns(of: box) where boxes[column, default: []].count < Self.maximumPerColumn {
            boxes[column, default: []].append(box)
        }
    }

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
        let first = Int(max(bounds.left, min(box.left, bounds.right)) / Self.column)
        return first...max(first, Int(max(bounds.left, min(box.right, bounds.right)) / Self.column))
    }

    mutating func add(_ label: Pending) { pending.append(label) }

    mutating func place() -> [String] {
        var (leaders, drawn): ([String], [String]) = ([], [])
        for label in pending.sorted(by: { $0.rank < $1.rank }) {
            let index = label.candidates.firstIndex { candidate in
                let right = candidate.x + Self.width(candidate.text, style: label.style)
                return occupyIfFree(
                    SVG.Box(
                        left: candidate.x - label.margin, top: candidate.y - 8 - label.margin / 4,
                        right: right + label.margin, bottom: candidate.y + 1 + label.margin / 4))
            }
            if let sufficient = label.sufficient, index ?? .max >= sufficient { crowdedLanes.insert(label.lane) }
            guard let candidate = index.map({ label.candidates[$0] }) else {
                missing += label.candidates.isEmpty || !label.isCounted ? 0 : 1
                continue
            }
            if let leader = candidate.leader {
                leaders.append(
                    SVG.path("leader", "M\(SVG.point(leader.x, leader.y))V\(SVG.number(candidate.y + 2))"))
            }
            // Lines must not strike through the label.
            let (left, top) = (SVG.number(candidate.x - 1), SVG.number(candidate.y - 9))
            let width = SVG.number(Self.width(candidate.text, style: label.style) + 2)
            drawn.append(
                "<rect class=\"behind\" x=\"\(left)\" y=\"\(top)\" width=\"\(width)\" height=\"12\"/>"
                    + SVG.text(candidate.text, style: label.style, x: candidate.x, y: candidate.y))
        }
        return leaders + drawn
    }
}
