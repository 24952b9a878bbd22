/// The end of a message: `; there is "a", "b" and 3 more`. Empty without names.
package func foundNames(_ names: [String], limit: Int = 16) -> String {
    guard !names.isEmpty else { return "" }
    let list = names.prefix(limit).map { "\"\($0)\"" }.joined(separator: ", ")
    return "; there is \(list)" + (names.count > limit ? " and \(names.count - limit) more" : "")
}
