/// What is held for a client: posts in the order in which they came, and the registrations that each is still owed to.
///
/// It is a table whose rows are entries and whose columns are registrations. A cell says that an entry is owed to a
/// registration; it is in two lists, the entry's and the registration's, and can be taken out of the middle of both. An entry
/// without cells goes.
///
/// Cost: constant for each cell that is added or removed, on average.
struct HeldQueue<Post: HeldPost> {
    typealias Entry = SuspensionBuffer<Post>.Held

    /// What a cell costs in memory, as it is counted: 28 bytes, room to grow, and its place in the index.
    static var bytesPerOwed: Int { 64 }

    private typealias Slot = Int32
    private static var none: Slot { -1 }

    private struct Row {
        var post: Post
        /// Nil if none of its registrations coalesces.
        var key: Post.Key?
        var byteCount: Int
        var previous: Slot
        var next: Slot
        var firstCell: Slot = -1
        var lastCell: Slot = -1
    }

    private struct Cell {
        var owed: Owed
        var row: Slot
        var previousInRow: Slot
        var nextInRow: Slot = -1
        var previousInColumn: Slot = -1
        var nextInColumn: Slot
    }

    private var rows: [Row?] = []
    private var freeRows: [Slot] = []
    private var cells: [Cell] = []
    private var freeCells: [Slot] = []
    private var first = none
    private var last = none
    /// The newest cell of each registration.
    private var columns: [UInt32: Slot] = [:]
    /// The cells of registrations that coalesce: for each name and object a registration has one at most.
    private var coalescing: [Post.Key: [UInt32: Slot]] = [:]

    private(set) var byteCount = 0
    var count: Int { rows.count - freeRows.count }
    var isEmpty: Bool { first == Self.none }

    static func byteCount(of post: Post, owed: [Owed]) -> Int { post.byteCount + owed.count * bytesPerOwed }

    // MARK: Adding

    /// Takes those of the registrations that coalesce out of the entry of the same name and object.
    mutating func coalesce(_ owed: [Owed], key: Post.Key) {
        guard coalescing[key] != nil else { return }
        for owed in owed where owed.behavior == .coalesce {
            guard let cell = coalescing[key]?[owed.registration] else { continue }
            remove(cell)
        }
    }

    /// Adds to the end.
    /// - Parameters:
    ///   - key: nil if none of the registrations coalesces; else they were coalesced.
    mutating func append(_ post: Post, key: Post.Key?, owed: [Owed]) {
        let byteCount = Self.byteCount(of: post, owed: owed)
        let row = insert(Row(post: post, key: key, byteCount: byteCount, previous: last, next: Self.none))
        if last == Self.none { first = row } else { rows[Int(last)]?.next = row }
        last = row
        self.byteCount += byteCount
        var previous = Self.none
        for owed in owed {
            let column = columns[owed.registration] ?? Self.none
            let cell = insert(Cell(owed: owed, row: row, previousInRow: previous, nextInColumn: column))
            if previous == Self.none { rows[Int(row)]?.firstCell = cell } else { cells[Int(previous)].nextInRow = cell }
            if column != Self.none { cells[Int(column)].previousInColumn = cell }
            columns[owed.registration] = cell
            if let key, owed.behavior == .coalesce { coalescing[key, default: [:]][owed.registration] = cell }
            previous = cell
        }
        rows[Int(row)]?.lastCell = previous
    }

    private mutating func insert(_ row: Row) -> Slot {
        guard let slot = freeRows.popLast() else {
            rows.append(row)
            return Slot(rows.count - 1)
        }
        rows[Int(slot)] = row
        return slot
    }

    private mutating func insert(_ cell: Cell) -> Slot {
        guard let slot = freeCells.popLast() else {
            cells.append(cell)
            return Slot(cells.count - 1)
        }
        cells[Int(slot)] = cell
        return slot
    }

    // MARK: Removing

    /// Takes the oldest entry out; there must be one.
    mutating func removeFirst() -> Entry {
        guard let row = rows[Int(first)] else { preconditionFailure("nothing is held") }
        let entry = entry(row)
        var next = row.firstCell
        while next != Self.none {
            let cell = next
            next = cells[Int(cell)].nextInRow
            remove(cell)
        }
        return entry
    }

    /// Takes a registration out of all entries.
    mutating func remove(registration: UInt32) {
        var next = columns[registration] ?? Self.none
        while next != Self.none {
            let cell = next
            next = cells[Int(cell)].nextInColumn
            remove(cell)
        }
    }

    /// Empties it, and lets go of its memory.
    mutating func removeAll() -> [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        var next = first
        while next != Self.none, let row = rows[Int(next)] {
            entries.append(entry(row))
            next = row.next
        }
        self = HeldQueue()
        return entries
    }

    private func entry(_ row: Row) -> Entry {
        var entry = Entry(post: row.post, owed: [])
        var next = row.firstCell
        while next != Self.none {
            entry.owed.append(cells[Int(next)].owed)
            next = cells[Int(next)].nextInRow
        }
        return entry
    }

    /// Takes a cell out, and with the last one of an entry the entry.
    private mutating func remove(_ slot: Slot) {
        let cell = cells[Int(slot)]
        freeCells.append(slot)
        if cell.previousInColumn != Self.none {
            cells[Int(cell.previousInColumn)].nextInColumn = cell.nextInColumn
        } else {
            columns[cell.owed.registration] = cell.nextInColumn == Self.none ? nil : cell.nextInColumn
        }
        if cell.nextInColumn != Self.none { cells[Int(cell.nextInColumn)].previousInColumn = cell.previousInColumn }
        if cell.owed.behavior == .coalesce, let key = rows[Int(cell.row)]?.key {
            removeFromIndex(cell.owed.registration, key)
        }
        if cell.previousInRow != Self.none {
            cells[Int(cell.previousInRow)].nextInRow = cell.nextInRow
        } else {
            rows[Int(cell.row)]?.firstCell = cell.nextInRow
        }
        if cell.nextInRow != Self.none {
            cells[Int(cell.nextInRow)].previousInRow = cell.previousInRow
        } else {
            rows[Int(cell.row)]?.lastCell = cell.previousInRow
        }
        if rows[Int(cell.row)]?.firstCell == Self.none { removeRow(cell.row) }
    }

    private mutating func removeFromIndex(_ registration: UInt32, _ key: Post.Key) {
        guard let index = coalescing.index(forKey: key) else { return }
        coalescing.values[index][registration] = nil
        if coalescing.values[index].isEmpty { coalescing.remove(at: index) }
    }

    private mutating func removeRow(_ slot: Slot) {
        guard let row = rows[Int(slot)] else { return }
        rows[Int(slot)] = nil
        freeRows.append(slot)
        byteCount -= row.byteCount
        if row.previous == Self.none { first = row.next } else { rows[Int(row.previous)]?.next = row.next }
        if row.next == Self.none { last = row.previous } else { rows[Int(row.next)]?.previous = row.previous }
    }
}
