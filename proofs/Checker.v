(** Soundness of the certificates of genverify: what the checker accepts is true of every dataset that fits.

    The first part is about records of any type X, given a list [live] of records outside of which no record of a dataset can
    lie. The second part says why zero cells, structural rules and exhausted totals leave such a list. The third part is the
    checker of src/genverify/checker/record_proofs.py on records that are lists of codes; the fourth is about whole numbers
    tied by sums, as src/genverify/checker/linear_proofs.py has them, and is the form in which `genverify export` writes
    every proof: the columns are kinds of records over the whole domain, nothing ruled out beforehand, or cells of tables. *)

From Coq Require Import ZArith List Bool Lia.
Import ListNotations.
Open Scope Z_scope.

Section Certificates.

Variable X : Type. (* a record *)

Definition sum (f : X -> Z) (D : list X) : Z := fold_right (fun x s => f x + s) 0 D.
Definition one (a : X -> bool) (x : X) : Z := if a x then 1 else 0.
Definition count (a : X -> bool) (D : list X) : Z := sum (one a) D.

(** A published cell: lo <= the sum of what the records add <= hi. To a count, a record adds 1 or 0. *)
Record Cell := mkCell { adds : X -> Z; lo : Z; hi : Z }.

Definition fits (cells : list Cell) (D : list X) : Prop :=
  Forall (fun c => lo c <= sum (adds c) D <= hi c) cells.

(** A leaf: multipliers y on cells (by place), w on the forks above, c on the claim; d is the common denominator. *)
Record Leaf := mkLeaf { empty : bool; y : list (nat * Z); d : Z; w : list Z; c : Z }.

Inductive Node :=
  | AtLeaf : Leaf -> Node
  | Fork : (X -> bool) -> Z -> Node -> Node -> Node. (* part, t: at most t records lie in the part, or more *)

(** Of each fork above, outermost first: its part, its t, whether we are below it. *)
Definition Path := list ((X -> bool) * Z * bool).

Definition holds (D : list X) (step : (X -> bool) * Z * bool) : Prop :=
  let '(part, t, below) := step in
  if below then count part D <= t else count part D >= t + 1.

Inductive Goal :=
  | AtMost : (X -> bool) -> Z -> Goal
  | AtLeast : (X -> bool) -> Z -> Goal
  | Never : (X -> bool) -> Z -> Goal
  | NoDataset : Goal.

Definition true_of (g : Goal) (D : list X) : Prop :=
  match g with
  | AtMost a m => count a D <= m
  | AtLeast a m => count a D >= m
  | Never a m => count a D <> m
  | NoDataset => False
  end.

(** ** The checker *)

Definition no_cell : Cell := mkCell (fun _ => 0) 0 0.
Definition cell_at (cells : list Cell) (i : nat) : Cell := nth i cells no_cell.

Fixpoint value_y (cells : list Cell) (ys : list (nat * Z)) (x : X) : Z :=
  match ys with [] => 0 | (i, m) :: rest => m * adds (cell_at cells i) x + value_y cells rest x end.

Fixpoint value_w (path : Path) (ws : list Z) (x : X) : Z :=
  match path, ws with
  | (part, _, _) :: path', v :: ws' => v * one part x + value_w path' ws' x
  | _, _ => 0
  end.

Fixpoint total_y (cells : list Cell) (ys : list (nat * Z)) : Z :=
  match ys with
  | [] => 0
  | (i, m) :: rest => m * (if 0 <? m then hi (cell_at cells i) else lo (cell_at cells i)) + total_y cells rest
  end.

Fixpoint total_w (path : Path) (ws : list Z) : Z :=
  match path, ws with
  | (_, t, below) :: path', v :: ws' => v * (if (below : bool) then t else t + 1) + total_w path' ws'
  | _, _ => 0
  end.

Fixpoint signs (path : Path) (ws : list Z) : bool :=
  match path, ws with
  | [], [] => true
  | (_, _, below) :: path', v :: ws' => (if (below : bool) then 0 <=? v else v <=? 0) && signs path' ws'
  | _, _ => false
  end.

Definition places (cells : list Cell) (ys : list (nat * Z)) : bool :=
  forallb (fun iy => Nat.ltb (fst iy) (length cells)) ys.

Definition value (cells : list Cell) (path : Path) (leaf : Leaf) (x : X) : Z :=
  value_y cells (y leaf) x + value_w path (w leaf) x.
Definition total (cells : list Cell) (path : Path) (leaf : Leaf) : Z :=
  total_y cells (y leaf) + total_w path (w leaf).

Definition check_leaf (cells : list Cell) (live : list X) (g : Goal) (path : Path) (leaf : Leaf) : bool :=
  places cells (y leaf) && signs path (w leaf) && (0 <? d leaf) &&
  let v := value cells path leaf in
  let t := total cells path leaf in
  match g with
  | Never a m => forallb (fun x => 0 <=? v x + c leaf * one a x) live && (t + c leaf * m <? 0)
  | NoDataset => forallb (fun x => 0 <=? v x) live && (t <? 0)
  | AtMost a m =>
      if empty leaf then forallb (fun x => 0 <=? v x) live && (t <? 0)
      else forallb (fun x => d leaf * one a x <=? v x) live && (t <? d leaf * (m + 1))
  | AtLeast a m =>
      if empty leaf then forallb (fun x => 0 <=? v x) live && (t <? 0)
      else forallb (fun x => - (d leaf * one a x) <=? v x) live && (t <? d leaf * (1 - m))
  end.

Fixpoint check_node (cells : list Cell) (live : list X) (g : Goal) (path : Path) (node : Node) : bool :=
  match node with
  | AtLeaf leaf => check_leaf cells live g path leaf
  | Fork part t below above =>
      check_node cells live g (path ++ [(part, t, true)]) below &&
      check_node cells live g (path ++ [(part, t, false)]) above
  end.

(** ** Sums *)

Lemma sum_plus : forall f g D, sum (fun x => f x + g x) D = sum f D + sum g D.
Proof. induction D; simpl; lia. Qed.

Lemma sum_times : forall k f D, sum (fun x => k * f x) D = k * sum f D.
Proof. induction D; simpl; lia. Qed.

Lemma sum_zero : forall D, sum (fun _ => 0) D = 0.
Proof. induction D; simpl; lia. Qed.

Lemma sum_le : forall f g D, (forall x, In x D -> f x <= g x) -> sum f D <= sum g D.
Proof.
  induction D as [|x D IH]; simpl; intros H; [lia|].
  specialize (H x (or_introl eq_refl)) as Hx.
  assert (sum f D <= sum g D) by (apply IH; intros; apply H; now right). lia.
Qed.

Lemma sum_ext : forall f g D, (forall x, f x = g x) -> sum f D = sum g D.
Proof. induction D; simpl; intros H; [reflexivity|]. rewrite H, IHD; auto. Qed.

Lemma nonnegative_sum : forall f D, (forall x, In x D -> 0 <= f x) -> 0 <= sum f D.
Proof. intros f D H. rewrite <- (sum_zero D). now apply sum_le. Qed.

Lemma positive_sum : forall f D x, (forall x, In x D -> 0 <= f x) -> In x D -> f x <= sum f D.
Proof.
  induction D as [|x0 D IH]; simpl; intros x H; [contradiction|]. intros [E|I]; [subst| ].
  - assert (0 <= sum f D) by (apply nonnegative_sum; intros; apply H; now right). lia.
  - specialize (H x0 (or_introl eq_refl)) as H0.
    assert (f x <= sum f D) by (apply IH; [intros; apply H; now right|assumption]). lia.
Qed.

Lemma whole : forall d a b t, 0 < d -> d * a <= t -> t < d * (b + 1) -> a <= b.
Proof.
  intros d a b t Hd H T. assert (L : d * a < d * (b + 1)) by lia.
  apply Z.mul_lt_mono_pos_l in L; lia.
Qed.

(** ** A leaf *)

Lemma fits_at : forall cells D i, fits cells D -> (i < length cells)%nat ->
  lo (cell_at cells i) <= sum (adds (cell_at cells i)) D <= hi (cell_at cells i).
Proof. intros cells D i F L. unfold fits in F. rewrite Forall_forall in F. apply F. now apply nth_In. Qed.

Lemma bound_y : forall cells D ys, fits cells D -> places cells ys = true ->
  sum (value_y cells ys) D <= total_y cells ys.
Proof.
  induction ys as [|[i m] ys IH]; simpl; intros F P.
  - rewrite sum_zero; lia.
  - apply andb_prop in P as [L P]. apply Nat.ltb_lt in L.
    rewrite (sum_plus (fun x => m * adds (cell_at cells i) x)), sum_times.
    specialize (IH F P). pose proof (fits_at cells D i F L). simpl in *.
    destruct (Z.ltb_spec 0 m); nia.
Qed.

Lemma bound_w : forall D path ws, Forall (holds D) path -> signs path ws = true ->
  sum (value_w path ws) D <= total_w path ws.
Proof.
  induction path as [|[[part t] below] path IH]; intros [|v ws] H S; simpl in *; try discriminate.
  - rewrite sum_zero; lia.
  - apply andb_prop in S as [Sv S]. inversion H as [|? ? Hh Ht]; subst. specialize (IH ws Ht S).
    rewrite (sum_plus (fun x => v * one part x)), sum_times. fold (count part D). simpl in Hh.
    destruct below.
    + apply Z.leb_le in Sv. nia.
    + apply Z.leb_le in Sv. nia.
Qed.

Lemma bound_leaf : forall cells D path leaf, fits cells D -> Forall (holds D) path ->
  places cells (y leaf) = true -> signs path (w leaf) = true ->
  sum (value cells path leaf) D <= total cells path leaf.
Proof.
  intros. unfold value, total. rewrite sum_plus.
  pose proof (bound_y cells D (y leaf)). pose proof (bound_w D path (w leaf)). intuition lia.
Qed.

Lemma all_live : forall f (live D : list X), (forall x, In x D -> In x live) -> forallb f live = true ->
  forall x, In x D -> f x = true.
Proof. intros f live D H F x I. rewrite forallb_forall in F. auto. Qed.

Theorem leaf_sound : forall cells live g path leaf D,
  check_leaf cells live g path leaf = true ->
  fits cells D -> (forall x, In x D -> In x live) -> Forall (holds D) path -> true_of g D.
Proof.
  intros cells live g path leaf D C F L P. unfold check_leaf in C.
  apply andb_prop in C as [C V]. apply andb_prop in C as [C Dpos]. apply andb_prop in C as [Pl S].
  pose proof (bound_leaf cells D path leaf F P Pl S) as B.
  apply Z.ltb_lt in Dpos. cbv zeta in V.
  assert (E : forallb (fun x => 0 <=? value cells path leaf x) live = true -> total cells path leaf < 0 -> False).
  { intros A T. assert (0 <= sum (value cells path leaf) D); [|lia].
    apply nonnegative_sum. intros x I. pose proof (all_live _ _ _ L A x I) as H. now apply Z.leb_le. }
  destruct g as [a m|a m|a m|]; cbv beta iota in V; simpl.
  - destruct (empty leaf); apply andb_prop in V as [A T]; apply Z.ltb_lt in T; [exfalso; auto|].
    apply (whole (d leaf) _ _ (total cells path leaf)); [assumption| |assumption].
    apply (Z.le_trans _ (sum (value cells path leaf) D)); [|assumption].
    unfold count. rewrite <- sum_times. apply sum_le. intros x I.
    pose proof (all_live _ _ _ L A x I) as H. now apply Z.leb_le.
  - destruct (empty leaf); apply andb_prop in V as [A T]; apply Z.ltb_lt in T; [exfalso; auto|].
    assert (d leaf * - count a D <= total cells path leaf).
    2: { replace (1 - m) with (- m + 1) in T by ring.
         pose proof (whole (d leaf) (- count a D) (- m) (total cells path leaf) Dpos H T). lia. }
    apply (Z.le_trans _ (sum (value cells path leaf) D)); [|assumption].
    replace (d leaf * - count a D) with (- d leaf * count a D) by ring.
    unfold count. rewrite <- sum_times. apply sum_le. intros x I.
    pose proof (all_live _ _ _ L A x I) as H. apply Z.leb_le in H. lia.
  - apply andb_prop in V as [A T]. apply Z.ltb_lt in T. intros Em.
    assert (0 <= sum (fun x => value cells path leaf x + c leaf * one a x) D).
    { apply nonnegative_sum. intros x I. pose proof (all_live _ _ _ L A x I) as H. now apply Z.leb_le. }
    rewrite sum_plus, sum_times in H. fold (count a D) in H. rewrite Em in H. lia.
  - apply andb_prop in V as [A T]. apply Z.ltb_lt in T. auto.
Qed.

(** ** A tree of cases *)

Theorem node_sound : forall node cells live g path D,
  check_node cells live g path node = true ->
  fits cells D -> (forall x, In x D -> In x live) -> Forall (holds D) path -> true_of g D.
Proof.
  induction node as [leaf|part t below IHb above IHa]; simpl; intros cells live g path D C F L P.
  - eapply leaf_sound; eauto.
  - apply andb_prop in C as [Cb Ca].
    destruct (Z.le_gt_cases (count part D) t).
    + apply (IHb _ _ _ _ _ Cb F L). apply Forall_app. split; [assumption|]. repeat constructor. assumption.
    + apply (IHa _ _ _ _ _ Ca F L). apply Forall_app. split; [assumption|]. repeat constructor. simpl. lia.
Qed.

(** ** Which records are live *)

(** An exhausted total: disjoint cells inside a universe whose counts add up to it. *)
Record Lemma_ := mkLemma { universe : nat; within : list nat }.

Definition inside_ (cells : list Cell) (l : Lemma_) (x : X) : Z :=
  fold_right (fun i s => adds (cell_at cells i) x + s) 0 (within l).

Definition lo_sum (cells : list Cell) (l : Lemma_) : Z :=
  fold_right (fun i s => lo (cell_at cells i) + s) 0 (within l).

Definition check_lemma (cells : list Cell) (all : list X) (l : Lemma_) : bool :=
  Nat.ltb (universe l) (length cells) && forallb (fun i => Nat.ltb i (length cells)) (within l) &&
  forallb (fun x => inside_ cells l x <=? adds (cell_at cells (universe l)) x) all &&
  (hi (cell_at cells (universe l)) <=? lo_sum cells l).

Definition obeys_lemma (cells : list Cell) (l : Lemma_) (x : X) : bool :=
  adds (cell_at cells (universe l)) x <=? inside_ cells l x.

Lemma lo_sum_le : forall cells l D, fits cells D ->
  forallb (fun i => Nat.ltb i (length cells)) (within l) = true -> lo_sum cells l <= sum (inside_ cells l) D.
Proof.
  intros cells l D F. unfold lo_sum, inside_. induction (within l) as [|i is IH]; simpl; intros H.
  - rewrite sum_zero; lia.
  - apply andb_prop in H as [Hi H]. apply Nat.ltb_lt in Hi. specialize (IH H).
    rewrite (sum_plus (adds (cell_at cells i))). pose proof (fits_at cells D i F Hi). lia.
Qed.

Theorem lemma_sound : forall cells all l D,
  check_lemma cells all l = true -> fits cells D -> (forall x, In x D -> In x all) ->
  forall x, In x D -> obeys_lemma cells l x = true.
Proof.
  intros cells all l D C F A x I. unfold check_lemma in C.
  apply andb_prop in C as [C T]. apply andb_prop in C as [C S]. apply andb_prop in C as [U W].
  apply Z.leb_le in T. apply Nat.ltb_lt in U. unfold obeys_lemma. apply Z.leb_le.
  pose proof (lo_sum_le cells l D F W) as Lo. pose proof (fits_at cells D (universe l) F U) as Hi.
  set (gap := fun x => adds (cell_at cells (universe l)) x + -1 * inside_ cells l x).
  assert (G : forall x, In x D -> 0 <= gap x).
  { intros z Iz. pose proof (all_live _ _ _ A S z Iz) as H. apply Z.leb_le in H. unfold gap. lia. }
  pose proof (positive_sum gap D x G I) as P. unfold gap in P at 2.
  rewrite sum_plus, sum_times in P. unfold gap in P. lia.
Qed.

Definition zero_ok (all : list X) (cell : Cell) (x : X) : bool :=
  negb ((hi cell =? 0) && forallb (fun z => 0 <=? adds cell z) all) || (adds cell x <=? 0).

Lemma zero_sound : forall cells all cell D, In cell cells -> fits cells D -> (forall x, In x D -> In x all) ->
  forall x, In x D -> zero_ok all cell x = true.
Proof.
  intros cells all cell D Ic F A x I. unfold zero_ok.
  destruct ((hi cell =? 0) && forallb (fun z => 0 <=? adds cell z) all) eqn:E; simpl; [|reflexivity].
  apply andb_prop in E as [H0 H]. apply Z.eqb_eq in H0. apply Z.leb_le.
  unfold fits in F. rewrite Forall_forall in F. specialize (F cell Ic).
  assert (adds cell x <= sum (adds cell) D); [|lia].
  apply positive_sum; [|assumption]. intros z Iz. apply Z.leb_le. exact (all_live _ _ _ A H z Iz).
Qed.

(** Live: in no cell that counts 0, excluded by no lemma; [rule] is what the structural rules demand of every record. *)
Definition live_records (all : list X) (rule : X -> bool) (cells : list Cell) (lemmas : list Lemma_) : list X :=
  filter (fun x => rule x && forallb (fun cell => zero_ok all cell x) cells
                   && forallb (fun l => obeys_lemma cells l x) lemmas) all.

Theorem live_sound : forall all rule cells lemmas D,
  forallb (check_lemma cells all) lemmas = true -> fits cells D ->
  (forall x, In x D -> In x all /\ rule x = true) ->
  forall x, In x D -> In x (live_records all rule cells lemmas).
Proof.
  intros all rule cells lemmas D C F A x I. unfold live_records. apply filter_In.
  destruct (A x I) as [Ia R]. split; [assumption|].
  assert (A' : forall z, In z D -> In z all) by (intros z Iz; now destruct (A z Iz)).
  rewrite R. simpl. apply andb_true_intro. split; apply forallb_forall.
  - intros cell Ic. eapply zero_sound; eauto.
  - intros l Il. rewrite forallb_forall in C. eapply lemma_sound; eauto.
Qed.

(** The certificate of a goal: what the checker accepts is true of every dataset of the domain that fits. *)
Definition check (all : list X) (rule : X -> bool) (cells : list Cell) (lemmas : list Lemma_) (g : Goal) (node : Node) : bool :=
  forallb (check_lemma cells all) lemmas && check_node cells (live_records all rule cells lemmas) g [] node.

Theorem check_sound : forall all rule cells lemmas g node D,
  check all rule cells lemmas g node = true ->
  (forall x, In x D -> In x all /\ rule x = true) -> fits cells D -> true_of g D.
Proof.
  intros all rule cells lemmas g node D C A F. unfold check in C. apply andb_prop in C as [Cl Cn].
  eapply node_sound; eauto. eapply live_sound; eauto.
Qed.

(** A claim R(a, m): exactly m records match a. *)
Theorem claim_sound : forall all rule cells lemmas a m lower upper D,
  check all rule cells lemmas (AtLeast a m) lower = true ->
  check all rule cells lemmas (AtMost a m) upper = true ->
  (forall x, In x D -> In x all /\ rule x = true) -> fits cells D -> count a D = m.
Proof.
  intros all rule cells lemmas a m lower upper D Cl Cu A F.
  pose proof (check_sound _ _ _ _ _ _ _ Cl A F) as L. pose proof (check_sound _ _ _ _ _ _ _ Cu A F) as U.
  simpl in *. lia.
Qed.

End Certificates.

Arguments mkCell {X} _ _ _.
Arguments AtLeaf {X} _.
Arguments Fork {X} _ _ _ _.
Arguments AtMost {X} _ _.
Arguments AtLeast {X} _ _.
Arguments Never {X} _ _.
Arguments NoDataset {X}.

(** * Records as lists of codes, conditions as lists of allowed codes: the checker of record_proofs.py *)

Module Records.

Definition Rec := list Z.
Definition Predicate := list (nat * list Z). (* column, allowed codes *)

Definition matches (p : Predicate) (r : Rec) : bool :=
  forallb (fun clause => existsb (Z.eqb (nth (fst clause) r (-1))) (snd clause)) p.

(** lo <= COUNT(predicate) <= hi; with [sums], the sum of the codes of a column over these records. *)
Record Published := mkPublished { predicate : Predicate; sums : option nat; least : Z; most : Z }.

Definition cell_of (p : Published) : Cell Rec :=
  mkCell (fun r => if matches (predicate p) r then match sums p with None => 1 | Some i => nth i r 0 end else 0)
         (least p) (most p).

(** A structural rule: a record that matches the first condition matches one of the others. *)
Definition Rule := (Predicate * list Predicate)%type.
Definition obeys (rules : list Rule) (r : Rec) : bool :=
  forallb (fun rule => negb (matches (fst rule) r) || existsb (fun option => matches option r) (snd rule)) rules.

(** The part of a fork: a condition, or the records that add the same to every published cell as a given one. *)
Inductive Part := Where : Predicate -> Part | Like : Rec -> Part.
Inductive Tree := TLeaf : Leaf -> Tree | TFork : Part -> Z -> Tree -> Tree -> Tree.

Definition inside (cells : list (Cell Rec)) (part : Part) (r : Rec) : bool :=
  match part with
  | Where p => matches p r
  | Like s => forallb (fun cell => adds Rec cell r =? adds Rec cell s) cells
  end.

Fixpoint node_of (cells : list (Cell Rec)) (t : Tree) : Node Rec :=
  match t with
  | TLeaf leaf => AtLeaf leaf
  | TFork part at_ below above => Fork (inside cells part) at_ (node_of cells below) (node_of cells above)
  end.

(** Every record of a domain: one code of each column. *)
Fixpoint records (domain : list (list Z)) : list Rec :=
  match domain with
  | [] => [[]]
  | codes :: rest => flat_map (fun code => map (cons code) (records rest)) codes
  end.

Definition in_domain (domain : list (list Z)) (r : Rec) : Prop := Forall2 (fun code codes => In code codes) r domain.

Lemma records_complete : forall domain r, in_domain domain r -> In r (records domain).
Proof.
  induction domain as [|codes rest IH]; intros r H; inversion H; subst; simpl; [now left|].
  apply in_flat_map. eexists. split; [eassumption|]. apply in_map. now apply IH.
Qed.

Section Claims.
Variables (domain : list (list Z)) (rules : list Rule) (published : list Published) (lemmas : list Lemma_).

Definition cells := map cell_of published.
Definition check_goal (g : Goal Rec) (t : Tree) : bool :=
  check Rec (records domain) (obeys rules) cells lemmas g (node_of cells t).

(** A dataset that fits: records of the domain that obey the rules and give the published counts. *)
Definition dataset (D : list Rec) : Prop :=
  (forall r, In r D -> in_domain domain r /\ obeys rules r = true) /\ fits Rec cells D.

Theorem goal_sound : forall g t, check_goal g t = true -> forall D, dataset D -> true_of Rec g D.
Proof.
  intros g t C D [A F]. eapply check_sound; eauto. intros r I. destruct (A r I). split; [|assumption].
  now apply records_complete.
Qed.

(** "Exactly m records match a", as genverify reports it. *)
Definition check_claim (a : Predicate) (m : Z) (lower upper : Tree) : bool :=
  check_goal (AtLeast (matches a) m) lower && check_goal (AtMost (matches a) m) upper.

Theorem claim_is_true : forall a m lower upper, check_claim a m lower upper = true ->
  forall D, dataset D -> count Rec (matches a) D = m.
Proof.
  intros a m lower upper C D H. apply andb_prop in C as [L U].
  pose proof (goal_sound _ _ L D H). pose proof (goal_sound _ _ U D H). simpl in *. lia.
Qed.
End Claims.

End Records.

(** * Whole numbers tied by sums: the form of an exported proof, of records (a column for each kind) and of tables (a column
    for each cell) *)

Module Linear.

(** What is known of a list x of whole numbers: the ends of each, and rows of weighted sums; an end may be open. *)
Definition Ends := (option Z * option Z)%type.
Record Row := mkRow { weights : list Z; least : option Z; most : option Z }.

Fixpoint dot (a x : list Z) : Z :=
  match a, x with u :: a', v :: x' => u * v + dot a' x' | _, _ => 0 end.

Definition above_ (o : option Z) (v : Z) : Prop := match o with Some l => l <= v | None => True end.
Definition below_ (o : option Z) (v : Z) : Prop := match o with Some h => v <= h | None => True end.
Definition within (e : Ends) (v : Z) : Prop := above_ (fst e) v /\ below_ (snd e) v.
Definition fits_row (x : list Z) (r : Row) : Prop := within (least r, most r) (dot (weights r) x).
Definition fits_system (ends : list Ends) (rows : list Row) (x : list Z) : Prop :=
  Forall2 within ends x /\ Forall (fits_row x) rows.

(** Multipliers on rows (by place) and on the sides of the forks above, over d; a fork: a sum is at most t, or more. *)
Inductive Tree :=
  | Leaf_ : bool -> list (nat * Z) -> Z -> list Z -> Tree
  | Fork_ : list Z -> Z -> Tree -> Tree -> Tree.
(** A row that is shown on the way: its sum is at most a number. *)
Definition Step := (list Z * Z * Tree)%type.
Inductive Question := SumAtMost (counted : list Z) (m : Z) | SumAtLeast (counted : list Z) (m : Z) | NothingFits.
Definition Sides := list (list Z * Z * bool).

Definition true_of_sums (q : Question) (x : list Z) : Prop :=
  match q with
  | SumAtMost a m => dot a x <= m
  | SumAtLeast a m => dot a x >= m
  | NothingFits => False
  end.

(** ** The checker: [left] is what the rows and sides leave of each column, for its ends to bound *)

Fixpoint minus (k : Z) (a left : list Z) : list Z := (* left - k a *)
  match left, a with
  | l :: left', u :: a' => (l - k * u) :: minus k a' left'
  | l :: left', [] => l :: left'
  | [], _ => []
  end.

Definition end_of (k : Z) (lo hi : option Z) : option Z :=
  if 0 <? k then match hi with Some h => Some (k * h) | None => None end
  else if k <? 0 then match lo with Some l => Some (k * l) | None => None end
  else Some 0.

Definition plus (a b : option Z) : option Z := match a, b with Some u, Some v => Some (u + v) | _, _ => None end.

Definition no_row : Row := mkRow [] None None.

(** The bound of d target by a leaf: rows, then sides, then ends of columns. *)
Fixpoint by_ends (ends : list Ends) (left : list Z) {struct left} : option Z :=
  match left, ends with
  | [], _ => Some 0
  | l :: left', e :: ends' => plus (end_of l (fst e) (snd e)) (by_ends ends' left')
  | l :: left', [] => None
  end.

Fixpoint by_sides (ends : list Ends) (sides : Sides) (ws : list Z) (left : list Z) : option Z :=
  match sides, ws with
  | [], [] => by_ends ends left
  | (part, t, below) :: sides', v :: ws' =>
      if (if (below : bool) then 0 <=? v else v <=? 0)
      then plus (Some (v * (if below then t else t + 1))) (by_sides ends sides' ws' (minus v part left))
      else None
  | _, _ => None
  end.

Fixpoint by_rows (ends : list Ends) (rows : list Row) (sides : Sides) (ws : list Z) (ys : list (nat * Z)) (left : list Z)
  : option Z :=
  match ys with
  | [] => by_sides ends sides ws left
  | (i, k) :: ys' =>
      let r := nth i rows no_row in
      plus (end_of k (least r) (most r)) (by_rows ends rows sides ws ys' (minus k (weights r) left))
  end.

Definition scaled (k : Z) (a : list Z) : list Z := map (Z.mul k) a.
Definition zeros (n : nat) : list Z := repeat 0 n.
Definition wide (n : nat) (a : list Z) : bool := Nat.eqb (length a) n.
Definition rows_wide (n : nat) (rows : list Row) : bool := forallb (fun r => Nat.leb (length (weights r)) n) rows.

(** Is target x at most b in every case? An empty leaf shows that its case cannot be. *)
Fixpoint check_tree (ends : list Ends) (rows : list Row) (sides : Sides) (target : option (list Z * Z)) (t : Tree) : bool :=
  match t with
  | Leaf_ empty ys d ws =>
      (0 <? d) &&
      match (if empty then None else target) with
      | None => match by_rows ends rows sides ws ys (zeros (length ends)) with Some v => v <? 0 | None => false end
      | Some (a, b) =>
          wide (length ends) a &&
          match by_rows ends rows sides ws ys (scaled d a) with Some v => v <? d * (b + 1) | None => false end
      end
  | Fork_ part at_ below above =>
      Nat.leb (length part) (length ends) &&
      check_tree ends rows (sides ++ [(part, at_, true)]) target below &&
      check_tree ends rows (sides ++ [(part, at_, false)]) target above
  end.

Definition target_of (q : Question) : option (list Z * Z) :=
  match q with
  | SumAtMost a m => Some (a, m)
  | SumAtLeast a m => Some (scaled (-1) a, - m)
  | NothingFits => None
  end.

Fixpoint check_steps (ends : list Ends) (rows : list Row) (steps : list Step) (q : Question) (t : Tree) : bool :=
  rows_wide (length ends) rows &&
  match steps with
  | [] => check_tree ends rows [] (target_of q) t
  | (a, b, tree) :: steps' =>
      check_tree ends rows [] (Some (a, b)) tree &&
      check_steps ends (rows ++ [mkRow a None (Some b)]) steps' q t
  end.

(** ** Soundness *)

Lemma dot_minus : forall k left a x, (length a <= length left)%nat -> dot (minus k a left) x = dot left x - k * dot a x.
Proof.
  induction left as [|l left IH]; destruct a as [|u a]; intros x L; simpl in *; try lia.
  - destruct x as [|v x]; [ring|]. rewrite IH by lia. ring.
Qed.

Lemma length_minus : forall k left a, length (minus k a left) = length left.
Proof. induction left as [|l left IH]; destruct a; simpl; auto. Qed.

Lemma dot_scaled : forall k a x, dot (scaled k a) x = k * dot a x.
Proof. induction a as [|u a IH]; destruct x as [|v x]; simpl; try ring. rewrite IH. ring. Qed.

Lemma dot_zeros : forall n x, dot (zeros n) x = 0.
Proof. induction n; destruct x; simpl; auto. Qed.

Lemma end_sound : forall k lo hi v b, end_of k lo hi = Some b -> above_ lo v -> below_ hi v -> k * v <= b.
Proof.
  intros k lo hi v b E A B. unfold end_of in E.
  destruct (Z.ltb_spec 0 k); [|destruct (Z.ltb_spec k 0)].
  - destruct hi; [|discriminate]. inversion E; subst. simpl in B. nia.
  - destruct lo; [|discriminate]. inversion E; subst. simpl in A. nia.
  - inversion E; subst. assert (k = 0) by lia. subst. lia.
Qed.

Lemma plus_some : forall a b v, plus a b = Some v -> exists u w, a = Some u /\ b = Some w /\ v = u + w.
Proof. intros [u|] [w|] v H; simpl in H; try discriminate. inversion H. eauto. Qed.

Lemma by_ends_sound : forall left ends x v, by_ends ends left = Some v -> Forall2 within ends x -> dot left x <= v.
Proof.
  induction left as [|l left IH]; intros ends x v H F; simpl in *.
  - inversion H. lia.
  - destruct ends as [|e ends]; [discriminate|]. inversion F as [|? w ? x' W F']; subst.
    apply plus_some in H as (u & t & E & R & ->). destruct W as [A B].
    pose proof (end_sound _ _ _ _ _ E A B). specialize (IH _ _ _ R F'). simpl. lia.
Qed.

Definition holds_side (x : list Z) (side : list Z * Z * bool) : Prop :=
  let '(part, t, below) := side in if (below : bool) then dot part x <= t else dot part x >= t + 1.
Definition narrow (n : nat) (side : list Z * Z * bool) : Prop := (length (fst (fst side)) <= n)%nat.

Lemma by_sides_sound : forall sides ws ends left x v, by_sides ends sides ws left = Some v ->
  Forall2 within ends x -> Forall (holds_side x) sides -> Forall (narrow (length left)) sides -> dot left x <= v.
Proof.
  induction sides as [|[[part t] below] sides IH]; intros [|w ws] ends left x v H F S N; simpl in *; try discriminate.
  - eapply by_ends_sound; eauto.
  - destruct (if below then 0 <=? w else w <=? 0) eqn:G; [|discriminate].
    destruct (by_sides ends sides ws (minus w part left)) as [r|] eqn:R; [|discriminate]. inversion H; subst. clear H.
    inversion S as [|? ? H1 H2]; subst. inversion N as [|? ? N1 N2]; subst. unfold narrow in N1. simpl in N1.
    eapply IH in R; eauto; [|now rewrite length_minus].
    rewrite dot_minus in R by lia. simpl in H1. destruct below; apply Z.leb_le in G; nia.
Qed.

Lemma row_at : forall rows x i, Forall (fits_row x) rows -> fits_row x (nth i rows no_row).
Proof.
  intros rows x i F. destruct (Nat.lt_ge_cases i (length rows)).
  - rewrite Forall_forall in F. apply F. now apply nth_In.
  - rewrite nth_overflow by lia. split; simpl; auto.
Qed.

Lemma wide_at : forall n rows i, rows_wide n rows = true -> (length (weights (nth i rows no_row)) <= n)%nat.
Proof.
  intros n rows i W. destruct (Nat.lt_ge_cases i (length rows)).
  - unfold rows_wide in W. rewrite forallb_forall in W. apply Nat.leb_le. apply W. now apply nth_In.
  - rewrite nth_overflow by lia. simpl. lia.
Qed.

Lemma by_rows_sound : forall ys ends rows sides ws left x v, by_rows ends rows sides ws ys left = Some v ->
  rows_wide (length left) rows = true ->
  fits_system ends rows x -> Forall (holds_side x) sides -> Forall (narrow (length left)) sides -> dot left x <= v.
Proof.
  induction ys as [|[i k] ys IH]; intros ends rows sides ws left x v H W [F R] S N; simpl in *.
  - eapply by_sides_sound; eauto.
  - apply plus_some in H as (u & r & E & Q & ->).
    destruct (row_at rows x i R) as [A B]. pose proof (end_sound _ _ _ _ _ E A B) as K. simpl in K.
    apply (IH ends rows sides ws _ x) in Q; try rewrite length_minus; auto; [|now split].
    rewrite dot_minus in Q by now apply wide_at. lia.
Qed.

Theorem tree_sound : forall t ends rows sides target x, check_tree ends rows sides target t = true ->
  rows_wide (length ends) rows = true -> fits_system ends rows x -> Forall (holds_side x) sides ->
  Forall (narrow (length ends)) sides ->
  match target with Some (a, b) => dot a x <= b | None => False end.
Proof.
  induction t as [empty ys d ws|part t below IHb above IHa]; intros ends rows sides target x C W F S N; simpl in C.
  - apply andb_prop in C as [D C]. apply Z.ltb_lt in D.
    destruct (if empty then None else target) as [[a b]|] eqn:T.
    + destruct empty; [discriminate|]. subst target. apply andb_prop in C as [L C]. apply Nat.eqb_eq in L.
      destruct (by_rows ends rows sides ws ys (scaled d a)) eqn:E; [|discriminate]. apply Z.ltb_lt in C.
      assert (length (scaled d a) = length ends) as LS by (unfold scaled; now rewrite map_length).
      apply (by_rows_sound _ _ _ _ _ _ x) in E; try rewrite LS; auto. rewrite dot_scaled in E.
      exact (whole d (dot a x) b z D E C).
    + destruct (by_rows ends rows sides ws ys (zeros (length ends))) eqn:E; [|discriminate]. apply Z.ltb_lt in C.
      assert (length (zeros (length ends)) = length ends) as LZ by (unfold zeros; now rewrite repeat_length).
      apply (by_rows_sound _ _ _ _ _ _ x) in E; try rewrite LZ; auto. rewrite dot_zeros in E. exfalso. lia.
  - apply andb_prop in C as [C Ca]. apply andb_prop in C as [P Cb]. apply Nat.leb_le in P.
    assert (G : forall b, narrow (length ends) (part, t, b)) by (intros b; exact P).
    destruct (Z.le_gt_cases (dot part x) t).
    + apply (IHb _ _ _ _ _ Cb W F); apply Forall_app; split; auto; repeat constructor; auto.
    + apply (IHa _ _ _ _ _ Ca W F); apply Forall_app; split; auto; repeat constructor; auto. simpl. lia.
Qed.

Theorem system_sound : forall ends rows steps q t, check_steps ends rows steps q t = true ->
  forall x, fits_system ends rows x -> true_of_sums q x.
Proof.
  intros ends rows steps. revert rows. induction steps as [|[[a b] tree] steps IH]; intros rows q t C x F; simpl in C.
  - apply andb_prop in C as [W C]. pose proof (tree_sound _ _ _ _ _ x C W F) as H.
    specialize (H (Forall_nil _) (Forall_nil _)).
    destruct q; simpl in *; auto. rewrite dot_scaled in H. lia.
  - apply andb_prop in C as [W C]. apply andb_prop in C as [C1 C2].
    pose proof (tree_sound _ _ _ _ _ x C1 W F (Forall_nil _) (Forall_nil _)) as H. simpl in H.
    apply (IH _ _ _ C2). destruct F as [E R]. split; [assumption|]. apply Forall_app. split; [assumption|].
    repeat constructor. unfold fits_row, within. simpl. auto.
Qed.

End Linear.

(** * A case to follow by hand: three rent, and nobody rents who does not live alone; so three rent alone. *)

Module Example.
Import Records.
Definition domain := [[1; 2; 3]; [1; 2; 3; 4]; [1; 2]]. (* tenure, size, age *)
Definition count_of p n := mkPublished p None n n.
Definition published := [count_of [] 5; count_of [(0%nat, [1])] 2; count_of [(0%nat, [3])] 3;
  count_of [(0%nat, [3]); (1%nat, [2; 3; 4])] 0].
Definition alone_and_renting : Predicate := [(0%nat, [3]); (1%nat, [1])].
Definition by_rent (s : Z) := TLeaf (mkLeaf false [(2%nat, s)] 1 [] 0).

Theorem three_rent_alone : forall D, dataset domain [] published D -> count Rec (matches alone_and_renting) D = 3.
Proof. apply (claim_is_true domain [] published [] alone_and_renting 3 (by_rent (-1)) (by_rent 1)). reflexivity. Qed.

Example four_are_not_proved :
  check_claim domain [] published [] alone_and_renting 4 (by_rent (-1)) (by_rent 1) = false.
Proof. reflexivity. Qed.
End Example.

Print Assumptions Records.goal_sound.
Print Assumptions Records.claim_is_true.
Print Assumptions Linear.system_sound.
