internal import DistributedNotifications

/// The posts that are held for one client in the order of arrival, each with the observers that have not received it.
///
/// It is a table: a row for each entry, a column for each observer. A cell means that the observer has yet to receive
/// the entry. Each cell is in two linked lists, its row's and its column's, so it can be removed from the middle of
/// both. A row without cells is removed.
///
/// Cost: constant on average for each entry and each cell that is added or removed.
struct HeldQueue<Post: HeldPost> {
    typealias Entry = SuspensionBuffer<Post>.Held

    private typealias Slot = Int32
    private static var none: Slot { -1 }

    private struct Row {
        var post: Post
        /// The index of its name and object in `keyed`; none if none of its observers coalesces.
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

    /// A name and object, with the entries that observers that coalesce have yet to receive.
    private struct Keyed {
        var key: Post.Key
        var rows = 0
        /// For each name and object an observer has at most one cell.
        var cells: [UInt32: Slot] = [:]
    }

    private var rows: [Row?] = []
    private var freeRows: [Slot] = []
    private var cells: [Cell] = []
    private var freeCells: [Slot] = []
    private var first = none
    private var last = none
    /// The newest cell of each observer.
    private var columns: [UInt32: Slot] = [:]
    private var keys: [Post.Key: Slot] = [:]
    private var keyed: [Keyed?] = []
    private var freeKeyed: [Slot] = []
    /// The key of the entry that is about to be appended. It stays even while it has no row.
    private var awaited = none

    private(set) var byteCount = 0
    var count: Int { rows.count - freeRows.count }

    static func byteCount(of post: Post, observers: [MatchingObserver]) -> Int {
        post.byteCount + observers.count * SuspensionBuffer<Post>.bytesPerObserver
    }

    // MARK: Adding

    /// Removes those observers that coalesce from the entries with this name and object. A new entry with it is
    /// appended next.
    mutating func coalesce(_ observers: [MatchingObserver], key: Post.Key) {
        guard let slot = keys[key] else { return }
        awaited = slot
        for observer in observers where observer.behavior == .coalesce {
            guard let cell = keyed[Int(slot)]?.cells[observer.registration] else { continue }
            remove(cell)
        }
    }

    /// Adds an entry to the end.
    /// - Parameter key: nil if none of the observers coalesces. Otherwise call `coalesce` before.
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

    /// Removes the oldest entry. There must be one.
    mutating func removeFirst() -> Entry {
        guard let row = rows[Int(first)] else { preconditionFailure("HeldQueue.removeFirst: the queue is empty") }
        let entry = entry(row)
        var next = row.firstCell
        while next != Self.none {
            let cell = next
            next = cells[Int(cell)].nextInRow
            remove(cell)
        }
        return entry
    }

    /// Removes an observer from all entries.
    mutating func remove(registration: UInt32) {
        var next = columns[registration] ?? Self.none
        while next != Self.none {
            let cell = next
            next = cells[Int(cell)].nextInColumn
            remove(cell)
        }
    }

    /// Removes all entries, and frees the memory.
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

    /// Removes a cell, and its row if that was the last cell.
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
