/// Which names of two runs correspond to one another: one to one.
struct Renaming {
    private let names: [[ComparedRun.Name]]
    private var counterparts: [[Int]]
    /// The names of the first run that have a counterpart, in the order in which they got it.
    private(set) var matched: [Int] = []

    init(_ runs: [ComparedRun]) {
        names = runs.map(\.names)
        counterparts = names.map { Array(repeating: -1, count: $0.count) }
    }

    /// The counterpart of a name of the first run, or -1.
    func counterpart(of name: Int) -> Int { counterparts[0][name] }

    /// True if the two correspond to each other, or may. -1 corresponds only to -1.
    func mayMatch(_ first: Int, _ second: Int) -> Bool {
        guard first >= 0, second >= 0 else { return first < 0 && second < 0 }
        let known = counterparts[0][first]
        if known >= 0 || counterparts[1][second] >= 0 { return known == second }
        let (name, other) = (names[0][first], names[1][second])
        return name.label == other.label && name.isShared == other.isShared
            && (name.owner < 0 || other.owner < 0 || mayMatch(name.owner, other.owner))
    }

    /// Returns false if the two cannot correspond to each other.
    @discardableResult
    mutating func match(_ first: Int, _ second: Int) -> Bool {
        guard mayMatch(first, second) else { return false }
        guard first >= 0, counterparts[0][first] < 0 else { return true }
        let (owner, other) = (names[0][first].owner, names[1][second].owner)
        if owner >= 0, other >= 0 { match(owner, other) }
        guard !names[0][first].isShared else { return true }
        (counterparts[0][first], counterparts[1][second]) = (second, first)
        matched.append(first)
        return true
    }

    mutating func match(_ token: ComparedRun.Token, _ other: ComparedRun.Token) -> Bool {
        switch (token, other) {
        case (.value(let first), .value(let second)): return first == second
        case (.name(let first), .name(let second)): return match(first, second)
        case (.id(let text, let first), .id(let otherText, let second)):
            return text == otherText || first.contains { name in second.contains { match(name, $0) } }
        default: return false
        }
    }

    /// Forgets all matches but the first ones.
    mutating func undo(to count: Int) {
        while matched.count > count {
            let first = matched.removeLast()
            counterparts[1][counterparts[0][first]] = -1
            counterparts[0][first] = -1
        }
    }
}
