// Many spheres: a disc that faces the camera for each, on which the sphere is worked out pixel by pixel. A dozen
// triangles instead of hundreds. Nothing is discarded, so that what is hidden is not worked out.
import { CircleGeometry, Color, InstancedMesh, ShaderMaterial, Vector3 } from "three";

const VERTEX = `
  varying vec2 at; varying mat3 turn; varying vec3 tint;
  void main() {
    at = position.xy;
    float radius = length(instanceMatrix[0].xyz);
    turn = mat3(instanceMatrix) / radius;
    tint = vec3(1.0);
    #ifdef USE_INSTANCING_COLOR
      tint = instanceColor;
    #endif
    vec4 center = modelViewMatrix * vec4(instanceMatrix[3].xyz, 1.0);
    gl_Position = projectionMatrix * (center + vec4(position.xy * radius, 0.0, 0.0));
  }`;

const FRAGMENT = `
  uniform vec3 up, sun, sky, earth; uniform float sunlight, skylight, headlight, opacity;
  varying vec2 at; varying mat3 turn; varying vec3 tint;
  void main() {
    float r2 = dot(at, at);
    vec3 seen = vec3(at, sqrt(max(0.0, 1.0 - r2)));
    vec3 n = (vec4(seen, 0.0) * viewMatrix).xyz; // to world axes: the inverse of a rotation
    vec3 own = n * turn;
    float tone = own.x * own.y * own.z >= 0.0 ? 1.0 : 0.74;
    vec3 light = mix(earth, sky, 0.5 + 0.5 * dot(n, up)) * skylight + vec3(sunlight * max(0.0, dot(n, sun)) + headlight * seen.z);
    gl_FragColor = vec4(tint * tone * light * ${(1 / Math.PI).toFixed(6)}, opacity);
    #include <tonemapping_fragment>
    #include <colorspace_fragment>
  }`;

const SHADOW = `varying vec2 at; varying mat3 turn; varying vec3 tint; void main() { gl_FragColor = vec4(1.0); }`;

export class SphereImpostors extends InstancedMesh {
  constructor(count, ghost) {
    const uniforms = { up: { value: new Vector3(0, 0, 1) }, sun: { value: new Vector3(0, 0, 1) }, sky: { value: new Color() },
      earth: { value: new Color() }, sunlight: { value: 2 }, skylight: { value: 1 }, headlight: { value: 1 }, opacity: { value: ghost ? 0.38 : 1 } };
    super(new CircleGeometry(1, 14), new ShaderMaterial({ uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: ghost, depthWrite: !ghost }), count);
    this.customDepthMaterial = new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: SHADOW });
    this.isImpostor = true;
  }

  /** The lights of the stage, which this material does not see by itself. */
  light({ sun, hemisphere, fill }) {
    const u = this.material.uniforms;
    u.up.value.copy(hemisphere.position).normalize();
    u.sun.value.copy(sun.position).sub(sun.target.position).normalize();
    u.sky.value.copy(hemisphere.color);
    u.earth.value.copy(hemisphere.groundColor);
    u.sunlight.value = sun.intensity;
    u.skylight.value = hemisphere.intensity;
    u.headlight.value = fill.intensity;
  }

  raycast(raycaster, hits) {
    const m = this.instanceMatrix.array, { origin, direction } = raycaster.ray, c = new Vector3();
    for (let i = 0; i < this.count; ++i) {
      const r = Math.hypot(m[16 * i], m[16 * i + 1], m[16 * i + 2]);
      c.set(m[16 * i + 12], m[16 * i + 13], m[16 * i + 14]).sub(origin);
      const along = c.dot(direction), off = c.lengthSq() - along * along;
      if (off > r * r || along < 0) continue;
      const distance = along - Math.sqrt(r * r - off);
      hits.push({ distance, point: origin.clone().addScaledVector(direction, distance), object: this, instanceId: i });
    }
  }
}
