/// The number of elements of all collections in a value.
package func storedElements(of any: Any) -> Int {
    let mirror = Mirror(reflecting: any)
    let own = [.collection, .dictionary, .set].contains(mirror.displayStyle) ? mirror.children.count : 0
    return mirror.children.reduce(own) { $0 + storedElements(of: $1.value) }
}
