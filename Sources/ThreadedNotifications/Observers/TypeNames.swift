/// The names of types, cached, because looking one up costs more than writing a record.
enum TypeNames {
    private static let names = Locked<[ObjectIdentifier: String]>([:], isTakenToFork: true)

    /// Makes what all threads share, before the process forks.
    static func makeShared() { _ = names }

    static func name(of type: any Any.Type) -> String {
        let identifier = ObjectIdentifier(type)
        if let known = names.withLock({ $0[identifier] }) { return known }
        let name = String(describing: type)
        names.withLock { $0[identifier] = name }
        return name
    }
}
