/// Numbers for lanes: equal for lanes that may correspond to each other.
///
/// The colours of lanes are refined by those of the names in their lines, and the other way round, until no further
/// lanes can be told apart (the Weisfeiler-Leman algorithm). Two runs with other colours differ.
struct LaneColours {
    private(set) var lanes: Pair<[Int]>
    /// The same without names.
    let words: Pair<[Int]>
    /// True if both runs have equally many lanes of each colour.
    let areEqual: Bool

    /// Only long rows of similar threads need more rounds.
    private static let maximumRounds = 32

    /// - Parameter leftOut: for each line, whether it is chance.
    init(_ runs: Pair<ComparedRun>, leftOut: Pair<[Bool]>) {
        var lines = Pair<[[Int32]]>([], [])
        for side in RunSide.allCases {
            lines[side] = runs[side].lanes.map { $0.lines.filter { !leftOut[side][Int($0)] } }
        }
        var (lanes, names) = (Pair<[Int]>([], []), runs.map { $0.names.map { $0.label ?? 0 } })
        for side in RunSide.allCases {
            lanes[side] = zip(runs[side].lanes, lines[side]).map { lane, lines in
                lines.reduce(lane.key.label) { Self.mix($0, runs[side].lines[Int($1)].skeleton) }
            }
        }
        words = lanes
        var classes = 0
        for _ in 0..<(Self.areDistinct(runs) ? 0 : Self.maximumRounds) {
            let found = Set(lanes.first).union(lanes.second).count + Set(names.first).union(names.second).count
            guard found > classes else { break }
            classes = found
            for side in RunSide.allCases { Self.refine(&lanes[side], &names[side], runs[side], lines[side]) }
        }
        self.lanes = lanes
        // Whether a lane exists in which nothing is compared is chance.
        let counted = Pair(zip(lanes.first, lines.first), zip(lanes.second, lines.second)).map { lanes in
            lanes.filter { !$0.1.isEmpty }.map(\.0).sorted()
        }
        areEqual = counted.first == counted.second
    }

    /// True if the threads of both runs are told apart without colours.
    private static func areDistinct(_ runs: Pair<ComparedRun>) -> Bool {
        RunSide.allCases.allSatisfy { side in
            let roots = runs[side].lanes.filter { $0.key.parent < 0 }
            return Set(roots.map(\.key.label)).count == roots.count
        }
    }

    private static func refine(
        _ lanes: inout [Int], _ names: inout [Int], _ run: ComparedRun, _ lines: [[Int32]]
    ) {
        var sums = Array(repeating: 0, count: names.count)
        let before = lanes
        for (number, lane) in run.lanes.enumerated() {
            var hash = mix(lanes[number], lane.key.parent < 0 ? 0 : lanes[Int(lane.key.parent)])
            for name in lane.key.names { hash = mix(hash, names[Int(name)]) }
            for (position, line) in lines[number].enumerated() {
                for token in run.tokens[run.lines[Int(line)].tokens] {
                    let (found, text) = Self.names(of: token)
                    hash = mix(hash, found.reduce(text) { $0 &+ names[Int($1)] })
                    for name in found { sums[Int(name)] &+= mix(before[number], position) }
                }
            }
            lanes[number] = hash
            for name in lane.key.names { sums[Int(name)] &+= mix(hash, -1) }
        }
        let threads = run.names.indices.filter { run.names[$0].owner >= 0 && !run.names[$0].isShared }
        for thread in threads {
            names[thread] = mix(names[thread], sums[thread])
            sums[Int(run.names[thread].owner)] &+= names[thread]
        }
        for number in run.names.indices where run.names[number].owner < 0 && !run.names[number].isShared {
            names[number] = mix(names[number], sums[number])
        }
        for thread in threads { names[thread] = mix(names[thread], names[Int(run.names[thread].owner)]) }
    }

    /// - Returns: the names of a token, and what is compared if it has none.
    private static func names(of token: ComparedRun.Token) -> ([Int32], Int) {
        switch token {
        case .name(let name): ([name], 0)
        case .id(let text, let names): (names, names.isEmpty ? text : 0)
        case .thread(let label, let threads, let number, _): (threads.isEmpty && number >= 0 ? [number] : threads, label)
        case .unknown: ([], 0)
        }
    }

    static func mix(_ one: Int, _ other: Int) -> Int {
        var mixed = (one ^ (other &* 0x1E37_79B9_7F4A_7C15)) &* 0x3F58_476D_1CE4_E5B9
        mixed ^= mixed >> 29
        mixed = mixed &* 0x14D0_49BB_1331_11EB
        return mixed ^ (mixed >> 32)
    }
}
