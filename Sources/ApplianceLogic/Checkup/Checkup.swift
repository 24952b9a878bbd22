/// A part of the device that `doctor` checks, in this order: each needs those before it.
public enum CheckupStep: String, CaseIterable, Sendable {
    case card
    case network
    case time
    case nameLookup = "name lookup"
    case server
    case key
    case camera
    case encoder
    case microphone
    case button
    case light
    case recording
}

public enum CheckupResult: String, CaseIterable, Sendable {
    case ok
    /// It works, but differently than expected.
    case warning
    case problem
    case notChecked = "not checked"
}

/// The result of one step.
public struct CheckupLine: Hashable, Sendable {
    public let step: CheckupStep
    public let result: CheckupResult
    /// For people, without secrets.
    public let text: String
    /// What to do next; `nil` if there is nothing to do.
    public let advice: String?

    public init(_ step: CheckupStep, _ result: CheckupResult, _ text: String, advice: String? = nil) {
        self.step = step
        self.result = result
        self.text = text
        self.advice = advice
    }
}

extension CheckupLine: CustomStringConvertible {
    private static let column = 14

    public var description: String {
        let name = "\(step.rawValue):"
        let next = advice.map { "; next: \($0)" } ?? ""
        return name + String(repeating: " ", count: max(1, Self.column - name.count))
            + "\(result.rawValue): \(Self.singleLine(text))\(next)"
    }

    /// Names of devices and messages of drivers come from outside.
    private static func singleLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }
}

/// The examination of the device. Findings arrive in any order, lines leave in the order of the steps.
public struct Checkup: Sendable {
    private var lines: [CheckupStep: CheckupLine] = [:]
    private var shownCount = 0

    public init() {}

    /// Judges a finding. A second finding for a step is ignored, since the first is already shown.
    /// - Returns: the lines that can be shown now.
    public mutating func found(_ finding: CheckupFinding) -> [CheckupLine] {
        let line = finding.line
        guard lines[line.step] == nil else { return [] }
        lines[line.step] = line
        let ready = CheckupStep.allCases.dropFirst(shownCount).prefix { lines[$0] != nil }
        shownCount += ready.count
        return ready.compactMap { lines[$0] }
    }

    /// The steps without a finding, in their order.
    public var openSteps: [CheckupStep] { CheckupStep.allCases.filter { lines[$0] == nil } }
    public var isComplete: Bool { lines.count == CheckupStep.allCases.count }

    public var summary: CheckupSummary {
        func steps(_ result: CheckupResult) -> [CheckupStep] {
            CheckupStep.allCases.filter { lines[$0]?.result == result }
        }
        return CheckupSummary(problems: steps(.problem), warnings: steps(.warning), unchecked: steps(.notChecked))
    }
}

/// The last line of an examination.
public struct CheckupSummary: Hashable, Sendable {
    public let problems: [CheckupStep]
    public let warnings: [CheckupStep]
    public let unchecked: [CheckupStep]

    public init(problems: [CheckupStep], warnings: [CheckupStep], unchecked: [CheckupStep]) {
        self.problems = problems
        self.warnings = warnings
        self.unchecked = unchecked
    }

    public var isGood: Bool { problems.isEmpty }
}

extension CheckupSummary: CustomStringConvertible {
    public var description: String {
        let parts = [
            Self.part(problems, "problem", "problems"), Self.part(warnings, "warning", "warnings"),
            unchecked.isEmpty ? nil : "\(unchecked.count) not checked",
        ].compactMap { $0 }
        let start = problems.first.map { "start with \($0.rawValue)" }
        let found = isGood ? ["no problem found"] + parts : parts + [start].compactMap { $0 }
        return "summary:      " + found.joined(separator: "; ")
    }

    private static func part(_ steps: [CheckupStep], _ one: String, _ several: String) -> String? {
        guard !steps.isEmpty else { return nil }
        return "\(steps.count) \(steps.count == 1 ? one : several) (\(steps.map(\.rawValue).joined(separator: ", ")))"
    }
}
