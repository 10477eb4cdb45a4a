/// Doubly linked lists of numbered slots: a slot can be removed from the middle of its list at constant cost.
///
/// A slot is in at most one list of a `SlotLinks`. The owner stores a `Chain` for each list.
struct SlotLinks {
    typealias Slot = Int

    /// The ends of one list.
    struct Chain: Equatable {
        fileprivate(set) var first: Slot?
        fileprivate(set) var last: Slot?

        var isEmpty: Bool { first == nil }
    }

    private struct Link {
        var previous: Slot?
        var next: Slot?
    }

    private var links: [Link] = []

    func next(after slot: Slot) -> Slot? { links[slot].next }

    mutating func append(_ slot: Slot, to chain: inout Chain) {
        while links.count <= slot { links.append(Link()) }
        links[slot] = Link(previous: chain.last, next: nil)
        if let last = chain.last { links[last].next = slot } else { chain.first = slot }
        chain.last = slot
    }

    mutating func remove(_ slot: Slot, from chain: inout Chain) {
        let link = links[slot]
        if let previous = link.previous { links[previous].next = link.next } else { chain.first = link.next }
        if let next = link.next { links[next].previous = link.previous } else { chain.last = link.previous }
        links[slot] = Link()
    }
}
