/// The names of types, each asked for once: to ask costs more than to record.
enum TypeNames {
    private static let names = Locked<[ObjectIdentifier: String]>([:])

    static func name(of type: any Any.Type) -> String {
        let identifier = ObjectIdentifier(type)
        if let known = names.withLock({ $0[identifier] }) { return known }
        let name = String(describing: type)
        names.withLock { $0[identifier] = name }
        return name
    }
}
