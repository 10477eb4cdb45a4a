internal import DistributedNotifications

/// What is held for a client: posts in the order in which they came, and the registrations that each is still owed to.
///
/// It is a table whose rows are entries and whose columns are registrations. A cell says that an entry is owed to a
/// registration; it is in two lists, the entry's and the registration's, and can be taken out of the middle of both. An entry
/// without cells goes.
///
/// Cost: constant for each entry and each cell that is added or removed, on average.
struct HeldQueue<Post: HeldPost> {
    typealias Entry = SuspensionBuffer<Post>.Held

    private typealias Slot = Int32
    private static var none: Slot { -1 }

    private struct Row {
        var post: Post
        /// The place of its name and object in `keyed`; none if none of its registrations coalesces.
        var key: Slot
        var byteCount: Int
        var previous: Slot
        var next: Slot
        var firstCell: Slot = -1
    }

    private struct Cell {
        var observer: MatchingObserver
        var row: Slot
        var previousInRow: Slot
        var nextInRow: Slot = -1
        var previousInColumn: Slot = -1
        var nextInColumn: Slot
    }

    /// A name and object of entries that are owed to registrations that coalesce.
    private struct Keyed {
        var key: Post.Key
        var rows = 0
        /// For each name and object a registration has one cell at most.
        var cells: [UInt32: Slot] = [:]
    }

    private var rows: [Row?] = []
    private var freeRows: [Slot] = []
    private var cells: [Cell] = []
    private var freeCells: [Slot] = []
    private var first = none
    private var last = none
    /// The newest cell of each registration.
    private var columns: [UInt32: Slot] = [:]
    private var keys: [Post.Key: Slot] = [:]
    private var keyed: [Keyed?] = []
    private var freeKeyed: [Slot] = []
    /// What is about to be appended has this key, so it stays without a row too.
    private var awaited = none

    private(set) var byteCount = 0
    var count: Int { rows.count - freeRows.count }

    static func byteCount(of post: Post, observers: [MatchingObserver]) -> Int {
        post.byteCount + observers.count * SuspensionBuffer<Post>.bytesPerObserver
    }

    // MARK: Adding

    /// Takes those of the registrations that coalesce out of the entries of the same name and object, one of which is about to
    /// be appended.
    mutating func coalesce(_ observers: [MatchingObserver], key: Post.Key) {
        guard let slot = keys[key] else { return }
        awaited = slot
        for observer in observers where observer.behavior == .coalesce {
            guard let cell = keyed[Int(slot)]?.cells[observer.registration] else { continue }
            remove(cell)
        }
    }

    /// Adds to the end.
    /// - Parameters:
    ///   - key: nil if none of the registrations coalesces; else they were coalesced.
    mutating func append(_ post: Post, key: Post.Key?, observers: [MatchingObserver]) {
        let byteCount = Self.byteCount(of: post, observers: observers)
        let key = key.map { slot(of: $0) } ?? Self.none
        awaited = Self.none
        let row = Self.insert(
            Row(post: post, key: key, byteCount: byteCount, previous: last, next: Self.none), &rows, &freeRows)
        if last == Self.none { first = row } else { rows[Int(last)]?.next = row }
        last = row
        self.byteCount += byteCount
        if key != Self.none { keyed[Int(key)]?.rows += 1 }
        var previous = Self.none
        for observer in observers {
            let column = columns[observer.registration] ?? Self.none
            let cell = insert(Cell(observer: observer, row: row, previousInRow: previous, nextInColumn: column))
            if previous == Self.none { rows[Int(row)]?.firstCell = cell } else { cells[Int(previous)].nextInRow = cell }
            if column != Self.none { cells[Int(column)].previousInColumn = cell }
            columns[observer.registration] = cell
            if observer.behavior == .coalesce { keyed[Int(key)]?.cells[observer.registration] = cell }
            previous = cell
        }
    }

    private mutating func slot(of key: Post.Key) -> Slot {
        if let slot = keys[key] { return slot }
        let slot = Self.insert(Keyed(key: key), &keyed, &freeKeyed)
        keys[key] = slot
        return slot
    }

    private static func insert<Element>(_ element: Element, _ slots: inout [Element?], _ free: inout [Slot]) -> Slot {
        guard let slot = free.popLast() else {
            slots.append(element)
            return Slot(slots.count - 1)
        }
        slots[Int(slot)] = element
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
        var entry = Entry(post: row.post, observers: [])
        var next = row.firstCell
        while next != Self.none {
            entry.observers.append(cells[Int(next)].observer)
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
            columns[cell.observer.registration] = cell.nextInColumn == Self.none ? nil : cell.nextInColumn
        }
        if cell.nextInColumn != Self.none { cells[Int(cell.nextInColumn)].previousInColumn = cell.previousInColumn }
        if cell.observer.behavior == .coalesce, let key = rows[Int(cell.row)]?.key {
            keyed[Int(key)]?.cells[cell.observer.registration] = nil
        }
        if cell.previousInRow != Self.none {
            cells[Int(cell.previousInRow)].nextInRow = cell.nextInRow
        } else {
            rows[Int(cell.row)]?.firstCell = cell.nextInRow
        }
        if cell.nextInRow != Self.none { cells[Int(cell.nextInRow)].previousInRow = cell.previousInRow }
        if rows[Int(cell.row)]?.firstCell == Self.none { removeRow(cell.row) }
    }

    private mutating func removeRow(_ slot: Slot) {
        guard let row = rows[Int(slot)] else { return }
        rows[Int(slot)] = nil
        freeRows.append(slot)
        byteCount -= row.byteCount
        if row.previous == Self.none { first = row.next } else { rows[Int(row.previous)]?.next = row.next }
        if row.next == Self.none { last = row.previous } else { rows[Int(row.next)]?.previous = row.previous }
        if row.key != Self.none { removeRow(fromKey: row.key) }
    }

    private mutating func removeRow(fromKey slot: Slot) {
        keyed[Int(slot)]?.rows -= 1
        guard let key = keyed[Int(slot)], key.rows == 0, slot != awaited else { return }
        keys[key.key] = nil
        keyed[Int(slot)] = nil
        freeKeyed.append(slot)
    }
}
