/// A number and its noun: `1 post`, `2 posts`.
///
/// - Parameter plural: the plural, if it is not formed with `s`.
package func counted(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}
