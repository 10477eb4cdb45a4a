/// Which threads of text logs may stand for one another.
struct LogThreads {
    let usesNames: Bool
    let usesChains: Bool
    /// The ids of threads and processes.
    let ids: Set<String>
    private let pools: [LogPattern]
    /// Names with numbers at their ends, of which a log has several.
    private let numbered: Set<String>
    /// The pools and the names without ids, in the order in which they are found. Their lanes have no order.
    private(set) var unordered: [String] = []
    private(set) var groups: [TextLog.Writer: String] = [:]

    /// Names of threads of which a process has one, by its runtime: Java's and Python's.
    private static let uniqueNames: Set<String> = ["main", "MainThread"]

    /// - Parameter pools: regular expressions for names, or ids, of threads that stand for one another.
    init(_ logs: [TextLog], pools: [String]) throws {
        let writers = logs.map(\.writers)
        usesNames = writers.allSatisfy { $0.contains { $0.name != nil } }
        usesChains = writers.allSatisfy { $0.contains { $0.chain != nil } }
        ids = Set(writers.joined().flatMap { [$0.id, $0.process.map(LogText.id)].compactMap(\.self) })
        self.pools = try pools.map { try LogPattern($0, option: "--pool") }
        numbered = Set(
            writers.flatMap { writers in
                let stems = writers.compactMap { $0.name.flatMap(Self.stem) }
                return Dictionary(grouping: stems) { $0 }.filter { $1.count > 1 }.keys
            })
        for writer in writers.joined() where groups[writer] == nil { groups[writer] = try group(writer) }
    }

    func isUnordered(_ writer: TextLog.Writer) -> Bool { isUnordered(groups[writer] ?? "") }

    func isUnordered(_ group: String) -> Bool { unordered.contains(group) }

    /// The pool of a thread, or its name without a number at its end; empty for threads without names and for chains.
    private mutating func group(_ writer: TextLog.Writer) throws -> String {
        if usesChains, writer.chain != nil { return "" }
        let name = usesNames ? writer.name : nil
        let stem = name.flatMap(Self.stem)
        let label = name ?? writer.id
        var pool = try pools.first { try label.map($0.isFound) ?? false }?.source
        if pool == nil, let name {
            let isAmbiguous = writer.id == nil && !Self.uniqueNames.contains(name)
            pool = stem.flatMap { numbered.contains($0) ? $0 : nil } ?? (isAmbiguous ? stem ?? name : nil)
        }
        if let pool, !isUnordered(pool) { unordered.append(pool) }
        return pool ?? stem ?? name ?? ""
    }

    /// The name with a mark for the number at its end, before a function in parentheses as Python adds it; nil if there
    /// is none.
    static func stem(_ name: String) -> String? {
        guard let match = name.wholeMatch(of: /(.*?)\d+( ?\(.*\))?/) else { return nil }
        return match.1 + "…" + (match.2 ?? "")
    }
}
