/// Finds the name that a person probably meant.
public enum NameSuggestion {
    /// The nearest of `candidates`, if it is close enough to be a typing error: at most a third of the letters differ,
    /// ignoring case.
    public static func nearest(to name: String, among candidates: [String]) -> String? {
        let typed = Array(name.lowercased().utf8.prefix(64))
        let limit = max(1, typed.count / 3)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = editDistance(typed, Array(candidate.lowercased().utf8.prefix(64)))
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// - Returns: the end of a sentence that suggests the nearest of `candidates`; `nil` if none is close.
    public static func question(for name: String, among candidates: [String]) -> String? {
        nearest(to: name, among: candidates).map { "; did you mean \($0)?" }
    }

    /// The Damerau-Levenshtein distance (swapped adjacent letters count once), restricted variant.
    private static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let substitution = previous[column] + (left[row] == right[column] ? 0 : 1)
                var distance = min(substitution, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    distance = min(distance, beforePrevious[column - 1] + 1)
                }
                current.append(distance)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[right.count]
    }
}
