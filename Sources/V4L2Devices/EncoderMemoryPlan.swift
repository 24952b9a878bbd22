import LinuxIO
import Media

/// How many buffers an encoder gets, so that they fit into the memory that drivers take them from.
public struct EncoderMemoryPlan: Hashable, Sendable {
    public let inputCount: Int
    public let outputCount: Int

    /// What the machine has free, in kilobytes.
    public struct Available: Hashable, Sendable {
        public let kilobytes: Int
        /// The kernel's word for it.
        public let kind: String

        public init(kilobytes: Int, kind: String) {
            self.kilobytes = kilobytes
            self.kind = kind
        }

        /// From the text of /proc/meminfo. Contiguous memory, where the kernel has set some aside, is what limits.
        public init?(memoryInformation text: String) {
            var values: [String: Int] = [:]
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.count >= 2 { values[String(words[0].dropLast())] = Int(words[1]) }
            }
            if let total = values["CmaTotal"], total > 0, let free = values["CmaFree"] {
                self.init(kilobytes: free, kind: "contiguous memory (CMA)")
            } else if let free = values["MemAvailable"] {
                self.init(kilobytes: free, kind: "memory")
            } else {
                return nil
            }
        }
    }

    /// From ample to what still streams.
    private static let steps = [(inputs: 6, outputs: 8), (4, 6), (3, 4), (2, 3)]
    /// Kept free for the camera's and the kernel's own next needs.
    private static let reserve = 4096

    /// - Parameters:
    ///   - inputSize: bytes of an input buffer; 0 when inputs are the camera's memory.
    ///   - outputSize: bytes of an output buffer.
    ///   - available: `nil` when it is not known: then the ample one is tried.
    public init(inputSize: Int, outputSize: Int, available: Available?, path: String) throws(HardwareEncodingError) {
        func kilobytes(_ step: (inputs: Int, outputs: Int)) -> Int {
            (step.inputs * inputSize + step.outputs * outputSize + 1023) / 1024
        }
        let fitting = Self.steps.first { step in
            guard let available else { return true }
            return kilobytes(step) + Self.reserve <= available.kilobytes
        }
        guard let fitting else {
            throw .insufficientMemory(
                path: path, neededKilobytes: kilobytes(Self.steps[Self.steps.count - 1]) + Self.reserve,
                availableKilobytes: available?.kilobytes ?? 0, of: available?.kind ?? "memory")
        }
        (inputCount, outputCount) = fitting
    }
}
