/// The occupied areas of a picture. Keeps labels from overlapping.
struct OccupiedBoxes {
    struct Box: Hashable {
        var left: Double
        var top: Double
        var right: Double
        var bottom: Double
    }

    private static let column = 64.0
    /// Searching a column with more boxes takes too long, and it has hardly any free space.
    private static let maximumPerColumn = 400

    private let bounds: Box
    /// Occupied boxes by column of the picture.
    private var boxes: [Int: [Box]] = [:]

    init(bounds: Box) {
        self.bounds = bounds
    }

    mutating func occupy(_ box: Box) {
        for column in columns(of: box) where boxes[column, default: []].count < Self.maximumPerColumn {
            boxes[column, default: []].append(box)
        }
    }

    /// Occupies the box if it is free.
    mutating func occupyIfFree(_ box: Box) -> Bool {
        guard box.left >= bounds.left, box.right <= bounds.right, box.top >= bounds.top, box.bottom <= bounds.bottom
        else { return false }
        for column in columns(of: box) {
            let boxes = boxes[column, default: []]
            if boxes.count >= Self.maximumPerColumn { return false }
            let isOccupied = boxes.contains {
                $0.left < box.right && box.left < $0.right && $0.top < box.bottom && box.top < $0.bottom
            }
            if isOccupied { return false }
        }
        occupy(box)
        return true
    }

    private func columns(of box: Box) -> ClosedRange<Int> {
        let first = Int(max(bounds.left, min(box.left, bounds.right)) / Self.column)
        return first...max(first, Int(max(bounds.left, min(box.right, bounds.right)) / Self.column))
    }
}
